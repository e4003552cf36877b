import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildIndex, decide, noSuspensions, recordInputs, replayInputs, suspendLines } from '../src/index.ts';
import { inputs, lines, plays } from './_arbitraries.ts';
import { outcomeOf, planOf } from './_support.ts';

test('a decision replays from its recorded inputs of either format after a round trip through JSON', () => {
  fc.assert(
    fc.property(lines, plays, inputs, (given, play, inputsOf) => {
      const index = buildIndex(planOf(given));
      const recording = recordInputs(index, inputsOf(index), play.atMs);
      const decision = decide(index, play, recording.inputs);
      const recorded = JSON.parse(JSON.stringify(recording.recorded()));
      const again = buildIndex(planOf(given.toReversed()));
      const suspended = inputsOf(again).suspended;
      const replayed = decide(again, play, replayInputs(again, recorded, suspended, play.atMs));
      expect(outcomeOf(replayed)).toEqual(outcomeOf(decision));
      // Format 2 knows the credit of those alone that were looked at: of the others the trace says `no_lease`.
      if (recorded.format === undefined) expect(replayed).toEqual(decision);
    }),
  );
});

test('the suspensions that concern a plan have the same effect on it as all active ones', () => {
  fc.assert(
    fc.property(
      lines,
      plays,
      fc.subarray(['li_0', 'li_1', 'li_x']),
      fc.subarray(['crv_0', 'crv_x']),
      (given, play, ids, creatives) => {
        const index = buildIndex(planOf(given));
        const inForce = {
          halts: { ...noSuspensions.halts, creative_ids: creatives },
          not_active: { ...noSuspensions.not_active, line_item_ids: ids, assignments: ['li_2/crv_1', 'li_x/crv_0'] },
        };
        const { lines: suspended, relevant } = suspendLines(index, inForce);
        expect(JSON.stringify(relevant)).not.toMatch(/li_x|crv_x/);
        const fresh = recordInputs(index, { share: () => ({ served: 0, opportunities: 0 }) }, play.atMs).inputs;
        expect(decide(index, play, { ...fresh, suspended: suspendLines(index, relevant).lines })).toEqual(
          decide(index, play, { ...fresh, suspended }),
        );
      },
    ),
  );
});
