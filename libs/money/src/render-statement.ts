import { csvCell } from '@longwave/csv';
import { escapeXml } from '@longwave/xml';
import canonicalize from 'canonicalize';
import { formatAmount } from './format-amount.ts';
import type { StatementDocument, StatementFormat } from './statement-document.ts';
import type { StatementLine } from './statement-terms.ts';

const columns = [
  ...['number', 'kind', 'period_start', 'period_end', 'line_item_id', 'line_item', 'line', 'rate_from', 'model'],
  ...['price', 'basis', 'units', 'days', 'amount', 'currency'],
];

/** One record for each line (RFC 4180), and the total in the last one. */
function renderCsv({ number, kind, period, lines, total_micros: total, inputs: { currency } }: StatementDocument) {
  const head = [String(number), kind, period.start, period.end];
  const records = lines.map((line) => [
    ...[...head, line.line_item_id, csvCell(line.name), line.kind, line.rate_from, line.model],
    ...[formatPrice(line), line.basis, String(line.units), String(line.days)],
    ...[formatAmount(BigInt(line.amount_micros), currency), currency],
  ]);
  const sum = [...head, '', '', 'total', '', '', '', '', '', '', formatAmount(BigInt(total), currency), currency];
  return [columns, ...records, sum].map((record) => `${record.join(',')}\r\n`).join('');
}

/** A price without trailing zeros: "18.5". Prices may be finer than the smallest unit of their currency. */
function formatPrice({ price_micros: micros }: Pick<StatementLine, 'price_micros'>): string {
  const digits = micros.padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
}

const pricedBy: Readonly<Record<StatementLine['model'], string>> = {
  cpm: 'per 1,000',
  cpcv: 'per completed ad',
  flat: 'for its whole time',
  cpd: 'per day',
  none: '',
};
const basisNames: Readonly<Record<StatementLine['basis'], string>> = {
  reserved: 'ads decided',
  served_bytes: 'ads sent whole',
  ad_delivered: 'ads delivered',
  client_event: 'ads reported by players',
  completes: 'ads played to the end, as players report',
};

const isByDays = ({ model }: StatementLine) => model === 'flat' || model === 'cpd';
const day = (instant: string) => instant.slice(0, 16).replace('T', ' ');
const row = (cells: readonly string[], tag = 'td') =>
  `<tr>${cells.map((text) => `<${tag}>${escapeXml(text)}</${tag}>`).join('')}</tr>`;

/** A page to read and print; without scripts, and without anything from elsewhere. */
function renderHtml(statement: StatementDocument): string {
  const { inputs, lines, period, corrects, inputs_digest: digest } = statement;
  const amount = (micros: string) => `${formatAmount(BigInt(micros), inputs.currency)} ${inputs.currency}`;
  const title = `${statement.kind === 'invoice' ? 'Statement' : 'Credit note'} ${statement.number}`;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['From', statement.issuer_name],
    ['To', statement.advertiser_name],
    ['Campaign', `${statement.campaign_name} (${inputs.campaign_id})`],
    ['Order', statement.io_number],
    ['Period', `${day(period.start)} to ${day(period.end)} UTC`],
    ['Issued', `${day(statement.issued_at)} UTC`],
    ['Corrects', corrects && `Statement ${corrects.number} (${corrects.id})`],
    ['Numbers as known at', `${day(inputs.known_at)} UTC, counted by version ${inputs.methodology_version}`],
    ['Without reconciliation', inputs.reconciliation_waiver],
    ['Tax', statement.tax_note],
  ];
  const table = lines.map((line) =>
    row([
      line.name,
      line.kind === 'charge' ? 'Period' : 'Correction of earlier periods',
      isByDays(line) ? `${line.days} days` : `${line.units} ${basisNames[line.basis]}`,
      `${formatPrice(line)} ${inputs.currency} ${pricedBy[line.model]}`,
      amount(line.amount_micros),
    ]),
  );
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeXml(title)}</title>`,
    '<style>body{font:14px/1.5 sans-serif;margin:3rem}table{border-collapse:collapse;margin:1rem 0;width:100%}',
    'td,th{border-bottom:1px solid #ccc;padding:.3rem .8rem;text-align:left;vertical-align:top}.facts td:first-child{width:12rem}.lines :is(td,th):last-child{text-align:right}</style></head><body>',
    `<h1>${escapeXml(title)}</h1>`,
    '<table class="facts">',
    ...facts.flatMap(([name, text]) => (text === undefined ? [] : [row([name, text])])),
    '</table>',
    '<table class="lines">',
    row(['Line item', 'What', 'Counted', 'Price', 'Amount'], 'th'),
    ...table,
    row(['Total', '', '', '', amount(statement.total_micros)]),
    '</table>',
    `<p>Statement ${escapeXml(statement.statement_id)} of workspace ${escapeXml(statement.workspace_id)}. Inputs: SHA-256 ${escapeXml(digest)}.</p>`,
    '</body></html>',
    '',
  ].join('\n');
}

/**
 * The bytes of a document of a statement: the same statement gives the same bytes, in whatever order its fields are stored.
 * JSON is in canonical form (RFC 8785), so that it can be compared and digested.
 */
export function renderStatement(statement: StatementDocument, format: StatementFormat): Buffer {
  const renderers: Readonly<Record<StatementFormat, (of: StatementDocument) => string>> = {
    json: (of) => `${canonicalize(of)!}\n`,
    csv: renderCsv,
    html: renderHtml,
  };
  return Buffer.from(renderers[format](statement));
}
