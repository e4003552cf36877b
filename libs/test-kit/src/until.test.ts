import { expect, test } from '@jest/globals';
import { until } from './until.ts';

test('it asks until there is an answer, also when that is 0, empty or null', async () => {
  for (const awaited of [0, '', null, true, { found: 1 }] as const) {
    const answers = [undefined, false, awaited] as const;
    let asked = 0;
    expect(await until('the answer', () => answers[asked++])).toBe(awaited);
    expect(asked).toBe(3);
  }
});

test('with a condition it answers the first answer for which that holds', async () => {
  let count = 0;
  const reached = await until('the third time', async () => (count += 1), { holds: (answer) => answer === 3 });
  expect(reached).toBe(3);
});

test('after the time it names what was awaited, how long, and the last answer', async () => {
  const waiting = until('the publication', () => ({ state: 'draft' }), {
    holds: ({ state }) => state === 'published',
    timeoutMs: 50,
  });
  await expect(waiting).rejects.toThrow(
    "the publication did not happen within 0.05 s; the last answer was { state: 'draft' }",
  );
});

test('it asks at least once more at the end of a long pause before it gives up', async () => {
  let asked = 0;
  await expect(until('it', () => void (asked += 1), { timeoutMs: 300 })).rejects.toThrow(
    /^it did not happen within 0.3 s$/,
  );
  expect(asked).toBeGreaterThan(3);
});

test('without a name it quotes the code of the question and of the condition', async () => {
  const waiting = until(() => 1, { holds: (count) => count > 2, timeoutMs: 0 });
  await expect(waiting).rejects.toThrow(
    /^\(\)\s*=>\s*1 with \(count\)\s*=>\s*count > 2 did not happen within 0 s; the last answer was 1$/,
  );
});

test('an error ends the waiting, unless errors are no answers; then the last one is the cause', async () => {
  const refused = () => Promise.reject(new Error('refused'));
  await expect(until('the answer', refused)).rejects.toThrow(/^refused$/);
  await expect(until('the answer', refused, { despiteErrors: true, timeoutMs: 10 })).rejects.toMatchObject({
    message: 'the answer did not happen within 0.01 s; the last attempt failed',
    cause: { message: 'refused' },
  });
  let asked = 0;
  const late = async () => ((asked += 1) < 3 ? refused() : 'here');
  expect(await until(late, { despiteErrors: true })).toBe('here');
});
