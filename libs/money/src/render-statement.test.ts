import { expect, test } from '@jest/globals';
import { formatAmount } from './format-amount.ts';
import { renderStatement } from './render-statement.ts';
import type { StatementDocument } from './statement-document.ts';
import type { StatementLine } from './statement-terms.ts';

const line: StatementLine = {
  ...{ line_item_id: 'li_1', kind: 'charge', name: '=Pre-roll, "gold"', rate_from: '2026-11-01T00:00:00.000Z' },
  ...{ model: 'cpm', price_micros: '18500000', basis: 'ad_delivered', units: 1000, days: 0, amount_micros: '18500000' },
};
const statement: StatementDocument = {
  version: 1,
  ...{
    statement_id: 'bil_1',
    workspace_id: 'ws_1',
    number: 12,
    kind: 'invoice',
    issued_at: '2026-12-02T09:00:00.000Z',
  },
  ...{ issuer_name: 'Harbour', advertiser_name: 'Coffee & <Co>', campaign_name: 'Autumn' },
  period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  lines: [line, { ...line, kind: 'correction', units: -30, amount_micros: '-560000' }],
  total_micros: '17940000',
  inputs: {
    ...{ currency: 'EUR', time_zone: 'UTC', known_at: '2026-12-01T02:00:00.000Z', line_items: [] },
    charged: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
    ...{ campaign_id: 'cmp_1', campaign_version: 4, earlier_statement_ids: [], reconciliation_ids: [] },
    ...{ adjustments: { count: 0, sha256: 'cd'.repeat(32) }, methodology_version: '3', lists_version: '7' },
  },
  inputs_digest: 'ab'.repeat(32),
};
const text = (of: StatementDocument, format: 'json' | 'csv' | 'html') => renderStatement(of, format).toString();

test('the order in which fields are stored changes no byte of a document', () => {
  const reordered = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reordered);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, inner]) => [key, reordered(inner)]),
    );
  };
  for (const format of ['json', 'csv', 'html'] as const)
    expect(text(reordered(statement) as StatementDocument, format)).toBe(text(statement, format));
});

test('the CSV has a record for each line and the total, and no text that a spreadsheet would run', () => {
  expect(text(statement, 'csv').split('\r\n')).toEqual([
    'number,kind,period_start,period_end,line_item_id,line_item,line,rate_from,model,price,basis,units,days,amount,currency',
    `12,invoice,2026-11-01T00:00:00.000Z,2026-12-01T00:00:00.000Z,li_1,"'=Pre-roll, ""gold""",charge,2026-11-01T00:00:00.000Z,cpm,18.5,ad_delivered,1000,0,18.50,EUR`,
    `12,invoice,2026-11-01T00:00:00.000Z,2026-12-01T00:00:00.000Z,li_1,"'=Pre-roll, ""gold""",correction,2026-11-01T00:00:00.000Z,cpm,18.5,ad_delivered,-30,0,-0.56,EUR`,
    '12,invoice,2026-11-01T00:00:00.000Z,2026-12-01T00:00:00.000Z,,,total,,,,,,,17.94,EUR',
    '',
  ]);
});

test('the page says what is charged, and shows names as text', () => {
  const page = text(statement, 'html');
  expect(page).toContain('<h1>Statement 12</h1>');
  expect(page).toContain('<td>Coffee &amp; &lt;Co&gt;</td>');
  expect(page).toContain('<td>17.94 EUR</td>');
  expect(page).not.toContain('<Co>');
});

test('on the page amounts are right-aligned with their heading, facts beside their names, in tables of one width', () => {
  const page = text(statement, 'html');
  expect(page).toContain('margin:1rem 0;width:100%}');
  expect(page).toContain('.lines :is(td,th):last-child{text-align:right}');
  expect(page).toMatch(/<table class="facts">\n<tr><td>From<[\s\S]*<table class="lines">\n<tr><th>Line item</);
  expect(page).toContain('<td>2026-12-01 02:00 UTC, counted by version 3</td>');
});

test('amounts are written with all digits of their currency', () => {
  expect(formatAmount(-1_234_500_000n, 'EUR')).toBe('-1234.50');
  expect(formatAmount(5_000n, 'BHD')).toBe('0.005');
  expect(formatAmount(12_000_000n, 'JPY')).toBe('12');
});
