import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parseDecisionSearch, purposes, verdictCodes } from './decision-search.ts';
import { windowOf } from './search-window.ts';

const root = path.resolve(import.meta.dirname, '../../../../../..');
interface Schema {
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
const contract = JSON.parse(readFileSync(path.join(root, 'contracts/management-openapi.json'), 'utf8')) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
/** The values that a field of an answer can have. */
function valuesOf(schema: string, ...fields: readonly string[]): readonly string[] {
  let found: Schema | undefined = contract.components.schemas[schema];
  for (const field of fields) {
    const of: Schema | undefined = found?.items ?? found;
    found = of?.properties?.[field];
  }
  return found?.enum ?? found?.items?.enum ?? found?.anyOf?.flatMap((one) => one.enum ?? []) ?? [];
}
const textsOf = (area: string, language: string) =>
  JSON.parse(readFileSync(path.join(root, `apps/web/src/messages/${area}/${language}.json`), 'utf8')) as Readonly<
    Record<string, string>
  >;

const verdicts = valuesOf('DecisionTrace', 'candidates', 'verdict');
const words = [
  { of: 'verdict', values: verdicts, area: 'ads', begins: 'verdict.' },
  {
    of: 'reason without an ad',
    values: valuesOf('DecisionTrace', 'no_ad_reason'),
    area: 'decisions',
    begins: 'decisions.no_ad_',
  },
  { of: 'stage', values: valuesOf('DecisionTrace', 'stages', 'name'), area: 'decisions', begins: 'decisions.stage_' },
  {
    of: 'outcome of a replay',
    values: valuesOf('DecisionTrace', 'replay', 'status'),
    area: 'decisions',
    begins: 'decisions.replay_',
  },
  {
    of: 'purpose',
    values: valuesOf('DiagnosticsAccessPage', 'rows', 'purposes'),
    area: 'decisions',
    begins: 'decisions.purpose_',
  },
];

test.each(words)('every $of of the contract has its words in both languages', ({ values, area, begins }) => {
  expect(values.length).toBeGreaterThan(1);
  for (const language of ['en', 'de'])
    expect(values.filter((value) => textsOf(area, language)[`${begins}${value}`] === undefined)).toEqual([]);
});

test('a search offers every verdict and every purpose of the contract', () => {
  expect(verdictCodes.toSorted()).toEqual(verdicts.toSorted());
  expect(purposes.toSorted()).toEqual(valuesOf('DiagnosticsAccessPage', 'rows', 'purposes').toSorted());
});

test('an address gives what it knows of a search, and no purpose of its own', () => {
  const line = `li_${'1'.repeat(26)}`;
  const address = { line_item_id: line, verdict: 'capped', from: '2026-11-27T14:00', purpose: 'audit', page: '3' };
  expect(parseDecisionSearch(address)).toEqual({ ...address, page: 3 });
  const broken = {
    line_item_id: 'li_1',
    verdict: 'lost',
    outcome: 'maybe',
    from: 'now',
    purpose: 'curiosity',
    page: '1',
  };
  expect(parseDecisionSearch(broken)).toEqual({});
});

const now = Date.parse('2026-11-27T12:00:00Z');
test.each([
  ['nothing', {}, {}],
  ['the end, a day before it', { to: '2026-11-20T13:00' }, { to: '2026-11-20T12:00:00.000Z' }],
  [
    'both in the zone of the workspace',
    { from: '2026-07-01T00:00', to: '2026-07-02T00:00' },
    { from: '2026-06-30T22:00:00.000Z', to: '2026-07-01T22:00:00.000Z' },
  ],
  [
    'of a time that clocks show twice the first',
    { from: '2026-10-25T02:30', to: '2026-10-25T04:00' },
    { from: '2026-10-25T00:30:00.000Z', to: '2026-10-25T03:00:00.000Z' },
  ],
])('the times of a search name instants: %s', (_, typed, by) => {
  expect(windowOf(typed, 'Europe/Berlin', now)).toEqual({ fault: undefined, by });
});

test.each([
  ['gap', { from: '2026-03-29T02:30', to: '2026-03-29T04:00' }],
  ['order', { from: '2026-11-27T14:00' }],
  ['order', { from: '2026-11-20T14:00', to: '2026-11-20T14:00' }],
  ['long', { from: '2026-10-01T00:00', to: '2026-11-27T00:00' }],
])('a search whose times cannot be answered is refused at its field: %s', (fault, typed) => {
  expect(windowOf(typed, 'Europe/Berlin', now)).toEqual({ fault });
});
