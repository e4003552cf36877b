import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addBit,
  buildIndex,
  createBits,
  createUrgency,
  decide,
  freshInputs,
  hasBit,
  recordInputs,
  replayInputs,
  setUrgency,
  urgencyOf,
  type DecisionInputs,
  type PlanIndex,
  type UrgencyLevel,
} from '../src/index.ts';
import { inputs, lines, plays } from './_arbitraries.ts';
import { contextOf, outcomeOf, planOf, preroll, type CaseLine } from './_support.ts';

/** The ordinals for which `remaining` says that slots are left. */
function creditOf(index: PlanIndex, { remaining }: DecisionInputs) {
  const credit = createBits(index.lines.length);
  index.lines.forEach((line, ordinal) => {
    if (line.goalQuantity !== undefined && remaining && remaining(ordinal) > 0) addBit(credit, ordinal);
  });
  return credit;
}

const picksOf = ({ picks, noAdReason, opportunities }: ReturnType<typeof decide>) => ({
  ...{ picks, noAdReason, opportunities },
});

test('credit chooses the same ads for the same reason as asking each line item, and looks at none without credit', () => {
  fc.assert(
    fc.property(lines, plays, inputs, (given, play, inputsOf) => {
      const index = buildIndex(planOf(given));
      const { credit: _, ...asking } = inputsOf(index);
      const credit = creditOf(index, asking);
      const asked: number[] = [];
      const { remaining } = asking;
      const counting = {
        ...asking,
        credit,
        remaining: remaining && ((ordinal: number) => (asked.push(ordinal), remaining(ordinal))),
      };
      const decision = decide(index, play, counting);
      expect(picksOf(decision)).toEqual(picksOf(decide(index, play, asking)));
      expect(asked.filter((ordinal) => !hasBit(credit, ordinal))).toEqual([]);
      for (const { considered, eligible, withoutCredit } of decision.verdicts)
        for (const [ordinal] of index.lines.entries()) {
          expect(considered.has(ordinal) && !hasBit(eligible, ordinal)).toBe(false);
          expect(considered.has(ordinal) && hasBit(withoutCredit!, ordinal)).toBe(false);
        }
      const named = decision.candidates.filter(({ lineItemId, verdict }) => {
        const ordinal = index.lines.findIndex((line) => line.lineItemId === lineItemId);
        const { withoutCredit } = decision.verdicts[0]!;
        return verdict !== 'no_lease' && hasBit(withoutCredit!, ordinal) && play.breaks.length === 1;
      });
      expect(named).toEqual([]);
    }),
  );
});

const levels = fc.constantFrom<UrgencyLevel>(0, 0, 0, 1, 2, 3);
/** A plan of one rank group that is larger than what is ordered at once, and what each of its line items has. */
const crowd = fc
  .array(
    fc.record({
      hasGoal: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
      room: fc.constantFrom(0, 0, 0, 1, 2),
      level: levels,
      country: fc.constantFrom('DE', 'DE', 'FR'),
      capped: fc.boolean(),
    }),
    { minLength: 500, maxLength: 1_100, size: 'max' },
  )
  .map((members) => {
    const given = members.map(({ hasGoal, country, capped }, at): CaseLine => ({
      line_item_id: `li_${at}`,
      type: 'guaranteed',
      goal: hasGoal ? { unit: 'impressions', quantity: 100 } : { unit: 'unlimited' },
      targeting: { countries: [country] },
      frequency_caps: capped ? [{ max: 1, per: 'listener_bucket', window_seconds: 60 }] : [],
    }));
    const inputsOf = (index: PlanIndex): DecisionInputs => {
      const memberOf = (ordinal: number) => members[Number(index.lines[ordinal]!.lineItemId.slice(3))]!;
      const urgency = createUrgency(index.lines.length);
      index.lines.forEach((_, ordinal) => setUrgency(urgency, ordinal, memberOf(ordinal).level));
      return { ...freshInputs, remaining: (ordinal) => memberOf(ordinal).room, frequencyRecord: () => 1, urgency };
    };
    return { given, inputsOf };
  });
const breaks = ['b0', 'b1', 'b2'].map((key) => ({ ...preroll, key, maxSlots: 2 }));

test('in a group of more than are ordered at once the urgent line items come first, and it replays, with credit as without', () => {
  fc.assert(
    fc.property(crowd, fc.string(), ({ given, inputsOf }, decisionId) => {
      const play = contextOf({ decisionId, breaks });
      const index = buildIndex(planOf(given));
      const asking = inputsOf(index);
      const knowing = { ...asking, credit: creditOf(index, asking) };
      expect(picksOf(decide(index, play, knowing))).toEqual(picksOf(decide(index, play, asking)));
      for (const before of [asking, knowing]) {
        const { inputs: recording, recorded } = recordInputs(index, before, play.atMs);
        const decision = decide(index, play, recording);
        for (const { considered } of decision.verdicts) {
          const order = [...considered.keys()].map((ordinal) =>
            index.lines[ordinal]!.goalQuantity === undefined ? 0 : urgencyOf(before.urgency, ordinal),
          );
          expect(order).toEqual(order.toSorted((a, b) => b - a));
        }
        const stored = JSON.parse(JSON.stringify(recorded()));
        expect(stored.format).toBe(before === knowing ? 2 : undefined);
        const again = decide(index, play, replayInputs(index, stored, undefined, play.atMs));
        expect(outcomeOf(again)).toEqual(outcomeOf(decision));
      }
    }),
    { numRuns: 40 },
  );
});

test('without urgency, or with level 0 for all, decisions are those of before it', () => {
  fc.assert(
    fc.property(lines, plays, inputs, (given, play, inputsOf) => {
      const index = buildIndex(planOf(given));
      const { urgency: _, ...without } = inputsOf(index);
      const none = { ...without, urgency: createUrgency(index.lines.length) };
      expect(decide(index, play, none)).toEqual(decide(index, play, without));
    }),
  );
});

test('credit that grows while a decision is made does not count for it, and the decision replays', () => {
  const line = {
    line_item_id: 'li_1',
    type: 'guaranteed' as const,
    goal: { unit: 'impressions' as const, quantity: 9 },
  };
  const index = buildIndex(planOf([line]));
  const credit = createBits(1);
  addBit(credit, 0);
  let asked = 0;
  const play = contextOf({ breaks });
  const growing = { ...freshInputs, credit, remaining: () => asked++ };
  const { inputs: recording, recorded } = recordInputs(index, growing, play.atMs);
  const decision = decide(index, play, recording);
  expect(decision.picks).toEqual([]);
  expect(recorded().room).toEqual({ li_1: 0 });
  const again = decide(index, play, replayInputs(index, recorded(), undefined, play.atMs));
  expect(outcomeOf(again)).toEqual(outcomeOf(decision));
});

test('a record of format 2 has no line item that was not looked at, and no more than 63 slots; one of another format is refused', () => {
  const index = buildIndex(
    planOf(
      ['won', 'behind', 'without'].map((line_item_id, at) => ({
        ...{ line_item_id, type: 'guaranteed' as const, priority: at + 1 },
        goal: { unit: 'impressions' as const, quantity: 100 },
      })),
    ),
  );
  const credit = createBits(3);
  addBit(credit, 0);
  addBit(credit, 1);
  const urgency = createUrgency(3);
  for (const ordinal of [0, 1, 2]) setUrgency(urgency, ordinal, 2);
  const { atMs } = contextOf();
  // One candidate of the pool follows the break's ads: all with credit are looked at.
  const counted = recordInputs(index, { ...freshInputs, credit, urgency }, atMs);
  decide(index, contextOf(), counted.inputs);
  expect(counted.recorded()).toEqual({
    ...{ format: 2, shares: {}, heard: {} },
    room: { won: 63, behind: 63 },
    urgency: { won: 2, behind: 2 },
  });
  const uncounted = recordInputs(index, { ...freshInputs, remaining: undefined, credit, urgency }, atMs);
  const { noAdReason } = decide(index, contextOf(), uncounted.inputs);
  expect(noAdReason).toBe('no_lease');
  expect(uncounted.recorded()).toMatchObject({ format: 2, room: {} });
  const later = { ...uncounted.recorded(), format: 3 as unknown as 2 };
  expect(() => replayInputs(index, later, undefined, atMs)).toThrow('unknown format 3');
});
