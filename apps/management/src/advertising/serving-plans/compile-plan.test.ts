import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import type { ResourceRow } from '@longwave/command-pipeline';
import { servingPlanSchema, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';
import fc from 'fast-check';
import { compilePlan, type PlanInputs } from './compile-plan.ts';

type Kind = Exclude<keyof PlanInputs, 'fixedMicros'>;
/** Resources by kind and id: their attributes and state. */
type Given = Readonly<Record<Kind, Readonly<Record<string, { readonly state: string } & Record<string, unknown>>>>>;
interface Case {
  readonly name: string;
  /** Differences from the base case, by kind, id and attribute; null removes a resource. */
  readonly given: { readonly [K in Kind]?: Readonly<Record<string, Record<string, unknown> | null>> };
  /** Differences from the base case's plan. */
  readonly floors?: ServingPlanDocument['floors'];
  /** Line item id → fields of the plan that differ; null: not in the plan. */
  readonly line_items?: Readonly<Record<string, Partial<PlanLineItem> | null>>;
  readonly inputs?: readonly string[];
}

const file = path.resolve(import.meta.dirname, '../../../cases/compile-plan.json');
const { base, plan, cases } = JSON.parse(readFileSync(file, 'utf8')) as {
  base: Given;
  plan: ServingPlanDocument;
  cases: readonly Case[];
};

const types: Readonly<Record<Kind, string>> = {
  advertisers: 'advertisers',
  campaigns: 'campaigns',
  lineItems: 'line_items',
  creatives: 'creatives',
  assignments: 'creative_assignments',
  inventoryUnits: 'inventory_units',
};
const at = new Date(0);

function rowsOf(given: Case['given']): PlanInputs {
  const of = (kind: Kind): ResourceRow[] => {
    const changed = given[kind] ?? {};
    const ids = new Set([...Object.keys(base[kind]), ...Object.keys(changed)]);
    return [...ids].flatMap((id) => {
      if (changed[id] === null) return [];
      const { state, ...attributes } = { state: 'active', ...base[kind][id], ...changed[id] };
      const row = { id, workspace_id: 'ws_1', resource_type: types[kind], version: 1, lifecycle_state: state };
      return [{ ...row, attributes, digest: '', operation_id: 'op_1', created_at: at, updated_at: at }];
    });
  };
  return Object.fromEntries(Object.keys(types).map((kind) => [kind, of(kind as Kind)])) as unknown as PlanInputs;
}
const compile = (inputs: PlanInputs) =>
  compilePlan({ id: 'ws_1', timeZone: 'Europe/Berlin' }, plan.effective_from, inputs);

test.each([
  [5_000_000_000n, 15_000_000_000],
  [30_000_000_000n, 0],
])('a budget has for units what fixed prices of %d leave of it: %d', (fixed, left) => {
  const { line_items: lineItems } = compile({ ...rowsOf({}), fixedMicros: new Map([['cmp_1', fixed]]) });
  const budgets = lineItems
    .map(({ pacing }) => pacing?.campaign_budget_micros)
    .filter((budget) => budget !== undefined);
  expect(new Set(budgets)).toEqual(new Set([left]));
});

test('the base case is a plan with every field of the format filled', () => {
  expect(compile(rowsOf({}))).toEqual(plan);
  expect(servingPlanSchema.parse(plan)).toEqual(plan);
});

test.each(cases)('$name', ({ given, floors = plan.floors, line_items: changed = {}, inputs }) => {
  const compiled = compile(rowsOf(given));
  servingPlanSchema.parse(compiled);
  expect(compiled.floors).toEqual(floors);
  const ids = new Set([...plan.line_items.map((each) => each.line_item_id), ...Object.keys(changed)]);
  const expected = [...ids].sort().flatMap((id) => {
    const before = plan.line_items.find((each) => each.line_item_id === id);
    return changed[id] === null ? [] : [{ ...before, ...changed[id] }];
  });
  expect(compiled.line_items).toEqual(expected);
  if (inputs) expect(compiled.inputs.map(({ id }) => id)).toEqual(inputs);
});

test('the order of the inputs does not matter', () => {
  const rows = rowsOf({});
  const shuffled = Object.fromEntries(
    Object.entries(rows).map(([kind, list]) => [kind, fc.shuffledSubarray([...list], { minLength: list.length })]),
  );
  fc.assert(
    fc.property(fc.record(shuffled), (inputs) => {
      expect(compile(inputs as unknown as PlanInputs)).toEqual(plan);
    }),
  );
});

test('each assignment is looked at a few times, however many line items there are', () => {
  let reads = 0;
  const rows = rowsOf({});
  const [lineItem] = rows.lineItems;
  const [assignment] = rows.assignments;
  const lineItems = Array.from({ length: 100 }, (_, at) => ({ ...lineItem!, id: `li_many_${at}` }));
  const assignments = lineItems.map(({ id }) => {
    const attributes = {
      ...assignment!.attributes,
      get line_item_id() {
        reads++;
        return id;
      },
    };
    return { ...assignment!, id: `cas_${id}`, attributes };
  });
  expect(compile({ ...rows, lineItems, assignments }).line_items).toHaveLength(100);
  expect(reads).toBeLessThan(500);
});
