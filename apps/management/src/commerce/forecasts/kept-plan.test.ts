import { expect, test } from '@jest/globals';
import {
  anyTargeting,
  changePlan,
  defaultSeparation,
  planChangesSchema,
  servingPlanSchema,
  type PlanLineItem,
  type ServingPlanDocument,
} from '@longwave/events';
import fc from 'fast-check';
import { changesOf, keepPlan, piecesOf, type BookedPlan } from './kept-plan.ts';

const window = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' };
const lineOf = (id: string, priority: number): PlanLineItem => ({
  ...{
    line_item_id: id,
    campaign_id: 'cmp_1',
    advertiser_id: 'adv_1',
    type: 'guaranteed',
    priority,
    weight: 1,
    window,
  },
  ...{ goal: { unit: 'impressions', quantity: 100 }, billable: true, cpm_micros: 1, break_positions: ['pre'] },
  ...{ targeting: anyTargeting, frequency_caps: [], separation_groups: [], ad_product_categories: [] },
  ...{ creative_rotation: 'weighted', creatives: [] },
});
const headOf = (floor: number): Omit<ServingPlanDocument, 'line_items'> => ({
  ...{ format: 2, workspace_id: 'ws_1', effective_from: window.start, inputs: [], separation: defaultSeparation },
  floors: [{ podcast_id: null, min_cpm_micros: floor }],
});
/** Small enough that a line item takes several. */
const pieceBytes = 300;
const joined = (pieces: Iterable<Buffer>): unknown => JSON.parse(Buffer.concat([...pieces]).toString());
const wholeOf = (plan: BookedPlan) => servingPlanSchema.parse(joined(piecesOf(plan, pieceBytes)));

/** The sold plan as management keeps it. */
function createSold() {
  let floor = 0;
  let plan = keepPlan({ plan: headOf(floor), lines: [] }, new Map(), undefined);
  return {
    read: () => plan,
    sell: (id: string, priority: number) => {
      const others = new Map([...plan.lines].filter(([other]) => other !== id));
      plan = keepPlan({ plan: headOf(floor), lines: [{ line: lineOf(id, priority), untilMs: 1 }] }, others, plan);
    },
    end: (id: string) => {
      const others = new Map([...plan.lines].filter(([other]) => other !== id));
      plan = keepPlan({ plan: headOf(floor), lines: [] }, others, plan);
    },
    setFloor: (to: number) => {
      floor = to;
      plan = keepPlan({ plan: headOf(floor), lines: [] }, plan.lines, plan);
    },
    /** As a process that has just begun has it. */
    forget: () => {
      plan = keepPlan({ plan: headOf(floor), lines: [] }, plan.lines, undefined);
    },
  };
}

/** A forecaster that asks now and then, and may lose what was sent. */
function createReader() {
  let known: { readonly digest: string; readonly plan: ServingPlanDocument } | undefined;
  return {
    lose: () => {
      known = undefined;
    },
    ask: (from: BookedPlan) => {
      if (known?.digest === from.digest) return known.plan;
      const before = known?.plan;
      const changes = changesOf(from, known?.digest ?? '', pieceBytes);
      const plan = changes ? changePlan(before!, planChangesSchema.parse(joined(changes))) : wholeOf(from);
      if (changes) expectSameObjects(before!, plan);
      known = { digest: from.digest, plan };
      return plan;
    },
  };
}

/** Line items that are as they were are not copied. */
function expectSameObjects(before: ServingPlanDocument, after: ServingPlanDocument): void {
  const were = new Map(before.line_items.map((line) => [line.line_item_id, line]));
  for (const line of after.line_items) {
    const was = were.get(line.line_item_id);
    if (was?.priority === line.priority) expect(line).toBe(was);
  }
}

const id = fc.constantFrom('li_a', 'li_b', 'li_c', 'li_d', 'li_e');
const step = fc.oneof(
  fc.record({ act: fc.constant('sell' as const), id, priority: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ act: fc.constant('end' as const), id }),
  fc.record({ act: fc.constant('setFloor' as const), floor: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ act: fc.constantFrom('forget' as const, 'lose' as const, 'ask' as const), reader: fc.nat(1) }),
  fc.record({ act: fc.constant('ask' as const), reader: fc.nat(1) }),
);

test('any sequence of changes, read as differences now and then by readers and processes that may lose what they had, is the whole plan', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const sold = createSold();
      const readers = [createReader(), createReader()];
      for (const one of steps)
        if (one.act === 'sell') sold.sell(one.id, one.priority);
        else if (one.act === 'end') sold.end(one.id);
        else if (one.act === 'setFloor') sold.setFloor(one.floor);
        else if (one.act === 'forget') sold.forget();
        else if (one.act === 'lose') readers[one.reader]!.lose();
        else expect(readers[one.reader]!.ask(sold.read())).toEqual(wholeOf(sold.read()));
      for (const reader of readers) expect(reader.ask(sold.read())).toEqual(wholeOf(sold.read()));
    }),
  );
});

test('what has changed is sent of a plan that management remembers, and the whole of one that it does not', () => {
  const sold = createSold();
  for (const name of ['li_a', 'li_b']) sold.sell(name, 1);
  const { digest } = sold.read();
  sold.sell('li_c', 1);
  sold.end('li_a');
  sold.sell('li_b', 1);
  expect(joined(changesOf(sold.read(), digest, pieceBytes)!)).toMatchObject({
    line_items: [{ line_item_id: 'li_c' }],
    removed: ['li_a'],
  });
  expect(changesOf(sold.read(), 'another', pieceBytes)).toBeUndefined();
  sold.forget();
  expect(changesOf(sold.read(), digest, pieceBytes)).toBeUndefined();
});

test('a plan of the past is forgotten after a hundred changes, or where more than two thousand line items have changed', () => {
  const sold = createSold();
  const first = sold.read().digest;
  for (let at = 1; at <= 100; at++) sold.setFloor(at);
  expect(changesOf(sold.read(), first, pieceBytes)).toBeDefined();
  sold.setFloor(101);
  expect(changesOf(sold.read(), first, pieceBytes)).toBeUndefined();
  const many = Array.from({ length: 2_001 }, (_, at) => ({ line: lineOf(`li_${at}`, 1), untilMs: 1 }));
  const read = (count: number) => keepPlan({ plan: headOf(101), lines: many.slice(0, count) }, new Map(), sold.read());
  expect(changesOf(read(2_000), sold.read().digest, pieceBytes)).toBeDefined();
  expect(changesOf(read(2_001), sold.read().digest, pieceBytes)).toBeUndefined();
});
