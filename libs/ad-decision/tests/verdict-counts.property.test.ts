import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildIndex, createVerdictCounts, decide, recordInputs, replayInputs, type VerdictCode } from '../src/index.ts';
import { inputs, lines, plays } from './_arbitraries.ts';
import { contextOf, planOf } from './_support.ts';

const unseenCodes: ReadonlySet<VerdictCode> = new Set(['no_lease', 'outranked', 'policy_ad_load']);

test('the counts of candidates that were looked at are those of replaying the stored decisions one by one', () => {
  const idOf = fc.array(
    fc.nat({ max: 99_999 }).map((number) => `dec_${number}`),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(lines, plays, inputs, idOf, (given, play, inputsOf, ids) => {
      const index = buildIndex(planOf(given));
      const counts = createVerdictCounts(index);
      const recount = new Map<string, number>();
      for (const decisionId of ids) {
        const context = { ...play, decisionId };
        const { inputs: told, recorded } = recordInputs(index, inputsOf(index), play.atMs);
        counts.add(decisionId, decide(index, context, told));
        const stored = JSON.parse(JSON.stringify(recorded()));
        const again = decide(index, context, replayInputs(index, stored, told.suspended, play.atMs));
        for (const { considered } of again.verdicts)
          for (const [ordinal, code] of considered) {
            const key = `${index.lines[ordinal]!.lineItemId} ${code}`;
            recount.set(key, (recount.get(key) ?? 0) + 1);
          }
      }
      const drained = counts.drain();
      for (const { lineItemId, code, considered, notLookedAt } of drained) {
        expect(considered).toBe(recount.get(`${lineItemId} ${code}`) ?? 0);
        expect([notLookedAt % 16, notLookedAt === 0 || unseenCodes.has(code)]).toEqual([0, true]);
      }
      const named = drained.map(({ lineItemId, code }) => `${lineItemId} ${code}`);
      expect([...recount.keys()].filter((key) => !named.includes(key))).toEqual([]);
      expect(counts.drain()).toEqual([]);
    }),
  );
});

test('over many plays the sample says how often a line item was outranked or without credit, within 3 per cent', () => {
  const goal = { unit: 'impressions' as const, quantity: 100 };
  const index = buildIndex(
    planOf([
      ...Array.from({ length: 40 }, (_, at) => ({ line_item_id: `house_${at}` })),
      { line_item_id: 'li_without', type: 'guaranteed', goal },
    ]),
  );
  const counts = createVerdictCounts(index);
  const credit = new Uint32Array(2);
  const plays = 40_000;
  const share = () => ({ served: 0, opportunities: 0 });
  const decision = decide(index, contextOf(), { credit, remaining: () => 1, share });
  for (let play = 0; play < plays; play++) counts.add(`dec_${play}`, decision);
  const drained = counts.drain();
  const total = (...codes: readonly VerdictCode[]) =>
    drained.reduce(
      (sum, { code, considered, notLookedAt }) => (codes.includes(code) ? sum + considered + notLookedAt : sum),
      0,
    );
  expect(total('won')).toBe(plays);
  for (const [found, exact] of [
    [total('no_lease'), plays],
    [total('outranked'), plays * (index.lines.length - 2)],
  ] as const)
    expect(Math.abs(found / exact - 1)).toBeLessThan(0.03);
});
