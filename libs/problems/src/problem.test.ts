import { expect, test } from '@jest/globals';
import { Problem, problemFromView, problemView, type ProblemView } from './problem.ts';
import { problems, type ProblemCode } from './problems.ts';

const codes = Object.keys(problems) as ProblemCode[];
const travel = (problem: Problem) => problemFromView(JSON.parse(JSON.stringify(problemView(problem))) as ProblemView);

test.each(codes)('%s travels whole: code, status, sentence and context arrive as they were sent', (code) => {
  const context = {
    status: 409,
    operationId: 'op_1',
    provider: { external_receipt: 'ext-7', ambiguity: 'unknown' as const },
    subject: { type: 'episodes', id: null, version: 3 },
    errors: [{ path: '/changes/title', code: 'too_small', detail: 'Give a title.' }],
    neededMs: 60_000,
    retryAfterSeconds: 0,
  };
  const arrived = travel(new Problem(code, 'Do this.', context));
  expect(arrived).toBeInstanceOf(Problem);
  expect({ code: arrived.code, message: arrived.message, context: arrived.context }).toEqual({
    code,
    message: 'Do this.',
    context,
  });
});

test.each(codes)('%s without context shows its title, its status of the table and nothing empty', (code) => {
  const { type, title, status, retry } = problems[code];
  const view = problemView(new Problem(code));
  expect(view).toEqual({
    type: `urn:longwave:problem:${type}`,
    title,
    status,
    detail: title,
    code,
    retry: { class: retry },
  });
  expect(problemView(travel(new Problem(code)))).toEqual(view);
});

test('the cause is not sent, and stays where the log can read it', () => {
  const cause = new Error('password=hunter2');
  const problem = new Problem('internal_error', undefined, { cause });
  expect(problem.cause).toBe(cause);
  expect(JSON.stringify(problemView(problem))).not.toContain('hunter2');
  expect(travel(problem).cause).toBeUndefined();
});

test.each(['constructor', 'a_code_of_tomorrow'])('the unknown code %s arrives as internal_error', (code) => {
  const view = { ...problemView(new Problem('not_found', 'Secret.')), code } as ProblemView;
  const arrived = problemFromView(view);
  expect({ code: arrived.code, status: arrived.status, message: arrived.message }).toEqual({
    code: 'internal_error',
    status: 500,
    message: 'Internal error',
  });
});
