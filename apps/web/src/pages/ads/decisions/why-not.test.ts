import { expect, test } from '@jest/globals';
import type { Candidate, Trace } from './decision-queries.ts';
import { breakKeysOf, fatesOf, slotsOf } from './why-not.ts';

const candidate = (breakKey: string, id: string, verdict: string): Candidate => ({
  ...{ break_key: breakKey, line_item_id: id, verdict, codes: [verdict], tier: 2, rank: 1 },
});
const stage = (breakKey: string, count: number) => ({
  ...{ break_key: breakKey, name: 'eligibility', in: count, out: count, dropped_by: {} },
});
const adBreak = (key: string) => ({
  ...{ key, position: 'pre' as const, position_ms: 0, max_slots: 1, max_duration_ms: 1 },
});
const trace = {
  request_class: { breaks: [adBreak('pre'), adBreak('post')] } as unknown as Trace['request_class'],
  stages: [stage('pre', 2), stage('post', 60)],
  candidates: [
    candidate('pre', 'li_mine', 'capped'),
    candidate('pre', 'li_other', 'won'),
    candidate('post', 'li_other', 'won'),
  ],
};

test('a line item has one fate in each break, in the order of the play', () => {
  expect(fatesOf(trace, 'li_mine')).toEqual([
    { kind: 'listed', breakKey: 'pre', candidate: trace.candidates[0] },
    { kind: 'not_listed', breakKey: 'post', listed: 1, all: 60 },
  ]);
});

test('one that a whole list does not have was not in the plan; of a list cut short that is not said', () => {
  expect(fatesOf(trace, 'li_third').map(({ kind }) => kind)).toEqual(['not_in_plan', 'not_listed']);
});

test('a trace that is older than its list of breaks names them by its stages', () => {
  const older = { ...trace, request_class: { breaks: [] } as unknown as Trace['request_class'] };
  expect(breakKeysOf(older)).toEqual(['pre', 'post']);
});

test('a break shows every slot that it had, filled or empty, and no pick is lost', () => {
  const pick = { break_key: 'pre', slot: 1 };
  expect(slotsOf([pick, { break_key: 'post', slot: 0 }], 'pre', 3)).toEqual([undefined, pick, undefined]);
  expect(slotsOf([pick], 'pre', 0)).toEqual([undefined, pick]);
});
