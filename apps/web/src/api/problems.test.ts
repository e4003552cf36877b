import { expect, test } from '@jest/globals';
import { ApiProblem, asProblem, isPassing, problemOf, wordsFor } from './problems.ts';
import { signInAddress } from './sign-in-address.ts';

const answer = (status: number, headers: Record<string, string> = {}) => new Response(null, { status, headers });

test('a refusal of REST v1 keeps its sentence, its reason and the id of the request', () => {
  const body = { code: 401, message: 'Unknown credential.', reason: 'unknown_user' };
  const problem = problemOf(answer(401, { 'X-Request-Id': 'req_1' }), body);
  expect(problem).toMatchObject({
    status: 401,
    message: 'Unknown credential.',
    slug: 'unknown_user',
    requestId: 'req_1',
  });
});

test('a problem document of the Management API names what is wrong with which field', () => {
  const errors = [{ path: '/changes/title', detail: '“title” is required.' }];
  const body = { type: 'https://a.test/problems/invalid_request', detail: 'The request is wrong.', errors };
  const problem = problemOf(answer(422), body);
  expect(problem.slug).toBe('invalid_request');
  expect(problem.fields).toEqual([{ path: '/changes/title', message: '“title” is required.' }]);
});

test('an answer that is no document of ours is known by its status alone', () => {
  for (const body of [undefined, null, '<html>', 7, ['a']])
    expect(problemOf(answer(502), body)).toMatchObject({ status: 502, message: '', slug: undefined, fields: [] });
});

test('a fault of the page itself is a problem too, and the session’s end, the network’s and the server’s are told apart', () => {
  const ofProgram = asProblem(new TypeError('x is undefined'));
  const without = new ApiProblem('', { status: 0, slug: 'no_answer' });
  const titles = [ofProgram, without, ...[401, 404, 500].map((status) => new ApiProblem('', { status }))].map(
    (problem) => wordsFor(problem).title,
  );
  expect(new Set(titles).size).toBe(5);
  expect(asProblem(without)).toBe(without);
});

test.each([
  [0, true],
  [400, false],
  [401, false],
  [404, false],
  [412, false],
  [422, false],
  [429, true],
  [500, true],
  [503, true],
])('whether a request with status %i is worth asking again: %s', (status, isWorth) => {
  expect(isPassing({ status, slug: undefined })).toBe(isWorth);
});

test('a fault of the program is not asked again', () => {
  expect(isPassing(asProblem(new Error('mistake')))).toBe(false);
});

test.each([
  ['/episodes/ep_1?sort=-date', '/sign-in?return_to=%2Fepisodes%2Fep_1%3Fsort%3D-date'],
  ['//evil.example/', '/sign-in?return_to=%2F'],
  ['/\\evil.example/', '/sign-in?return_to=%2F'],
  ['/podcasts?q=ö', '/sign-in?return_to=%2F'],
  [`/${'a'.repeat(2000)}`, '/sign-in?return_to=%2F'],
])('signing in at %s leads back to a path of this origin', (path, address) => {
  expect(signInAddress(path)).toBe(address);
});
