import { expect, test } from '@jest/globals';
import type { DeliveryFact } from '@longwave/events';
import fc from 'fast-check';
import { decodeLine, encodeLine, isMark, readMark, toFactLine, toMarkLine } from './fact-line.ts';

const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const facts: fc.Arbitrary<DeliveryFact> = fc.tuple(hex, fc.string({ unit: 'binary' })).map(([digest, text]) => ({
  ...{ kind: 'user_agent_seen', fact_id: `fct_${digest}`, at: '2026-01-01T10:00:00.000Z' },
  ...{ user_agent_digest: digest, user_agent: text },
}));
const mark = { kind: 'facts_published', producer: 'p-1', until: '2026-01-01T10:00:00.000Z', ended: false } as const;

const traces = fc.option(fc.constant('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'), { nil: undefined });

test('a line gives back what was written, and earlier releases read it as the fact', () => {
  fc.assert(
    fc.property(facts, traces, (fact, traceparent) => {
      const written = { ...toFactLine(fact), ...(traceparent !== undefined && { traceparent }) };
      const line = encodeLine(written);
      expect(line).not.toContain('\n');
      expect(decodeLine(line)).toStrictEqual(written);
      expect(JSON.parse(line)).toMatchObject(fact);
    }),
  );
  const decoded = decodeLine(encodeLine(toMarkLine(mark)))!;
  expect(isMark(decoded)).toBe(true);
  expect(readMark(decoded)).toEqual(mark);
});

test('a line of an earlier release is read as it was', () => {
  fc.assert(fc.property(facts, (fact) => expect(decodeLine(JSON.stringify(fact))).toEqual(toFactLine(fact))));
  expect(decodeLine(JSON.stringify(mark))).toEqual(toMarkLine(mark));
  expect(decodeLine('{"kind":"user_agent_seen"}')).toBeUndefined();
});

test('a line that was cut or changed anywhere is never published', () => {
  fc.assert(
    fc.property(facts, fc.nat(), fc.constantFrom('0', '"', '}', ' ', 'ä'), (fact, place, other) => {
      const line = encodeLine(toFactLine(fact));
      const at = place % line.length;
      expect(decodeLine(line.slice(0, at))).toBeUndefined();
      if (line[at] !== other) expect(decodeLine(line.slice(0, at) + other + line.slice(at + 1))).toBeUndefined();
    }),
  );
});
