import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@longwave/problems';
import fc from 'fast-check';
import { findReplay, inProgressProblem, jcsDigest, requireIdempotencyKey } from './index.ts';

function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a key', () => {
  test.each(['a', '9:order-1.2_b', 'a'.repeat(128)])('%j is taken as it is', (key) => {
    expect(requireIdempotencyKey(key, 'Send a key.')).toBe(key);
  });

  test.each(['-a', 'a b', 'ä', 'a\n', '"a"', 'a'.repeat(129)])('%j is malformed', (key) => {
    expect(problemOf(() => requireIdempotencyKey(key, 'Send a key.')).code).toBe('idempotency_key_invalid');
  });

  test.each([undefined, ''])('%j is missing, and the caller says for what', (key) => {
    const { code, message } = problemOf(() => requireIdempotencyKey(key, 'Send a key.'));
    expect({ code, message }).toEqual({ code: 'idempotency_key_required', message: 'Send a key.' });
  });
});

/** The same value, with the fields of every object in reverse order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
};

describe('a digest', () => {
  const json = fc.jsonValue({ stringUnit: 'grapheme' }).map((value): unknown => JSON.parse(JSON.stringify(value)));

  test('is SHA-256 of the canonical form, as in the example of RFC 8785 §3.2', () => {
    const text = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    const canonical = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
    expect(jcsDigest(JSON.parse(text))).toBe(hash('sha256', canonical, 'hex'));
  });

  test('does not depend on the order of fields or on white space, at any depth', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(jcsDigest(JSON.parse(JSON.stringify(reversed(value), null, 2)))).toBe(jcsDigest(value));
      }),
    );
  });

  test('differs for values that differ', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(jcsDigest(one) === jcsDigest(other)).toBe(isDeepStrictEqual(one, other));
      }),
    );
  });

  test.each([undefined, NaN, { text: '\ud800' }])('is refused to %p, which JSON cannot express', (value) => {
    expect(() => jcsDigest(value)).toThrow();
  });
});

describe('a request under a key', () => {
  const conflict = () => new Problem('idempotency_conflict');

  test('is carried out once: a repetition gets the first answer, another payload a conflict', () => {
    const request = fc.record({ key: fc.constantFrom('a', 'b'), payload: fc.constantFrom(1, 2, 3) });
    fc.assert(
      fc.property(fc.array(request), (requests) => {
        const stored = new Map<string, { digest: string; payload: number }>();
        for (const { key, payload } of requests) {
          const digest = jcsDigest({ payload });
          const first = stored.get(key);
          const records = first ? [first] : [];
          if (!first) {
            expect(findReplay(records, digest, conflict)).toBeUndefined();
            stored.set(key, { digest, payload });
          } else if (first.payload === payload) expect(findReplay(records, digest, conflict)).toBe(first);
          else expect(problemOf(() => findReplay(records, digest, conflict)).code).toBe('idempotency_conflict');
        }
      }),
    );
  });

  test('of several records, conflicts with any one of another payload, and the conflict names that one', () => {
    const digest = fc.constantFrom('same', 'other');
    fc.assert(
      fc.property(fc.array(fc.record({ digest, id: fc.nat() }), { minLength: 1 }), (records) => {
        const others = records.filter((record) => record.digest === 'other');
        const named: unknown[] = [];
        const find = () =>
          findReplay(records, 'same', (record) => {
            named.push(record);
            return conflict();
          });
        if (others.length === 0) expect(find()).toBe(records[0]);
        else expect(problemOf(find).code).toBe('idempotency_conflict');
        expect(named).toEqual(others.slice(0, 1));
      }),
    );
  });
});

test('a request that has to wait is told to come again in a second', () => {
  const cause = new Error('lock timeout');
  const problem = inProgressProblem('Another one runs.', cause);
  expect([problem.code, problem.status, problem.message, problem.context.retryAfterSeconds, problem.cause]).toEqual([
    'idempotency_in_progress',
    409,
    'Another one runs.',
    1,
    cause,
  ]);
});
