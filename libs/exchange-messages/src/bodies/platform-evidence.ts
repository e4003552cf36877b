import { z } from 'zod';
import { currency, digest, extension, instant, line, ordinal, sourceId, text, webUrl } from '../fields.ts';
import { maxEvidenceRows } from '../limits.ts';

const count = z.int().min(0).optional();

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

/** A 64-bit integer as text, without leading zeros; below zero for what was paid back. */
const int64 = z
  .string()
  .regex(/^(?:0|-?[1-9]\d{0,18})$/, { error: 'Write a whole number as text, such as “18500000”.', abort: true })
  .refine((digits) => BigInt(digits) <= maxInt64 && BigInt(digits) >= minInt64, { error: 'Write a 64-bit integer.' });

const evidenceRow = z
  .strictObject({
    source_id: sourceId.describe('Your id of an episode.'),
    at: instant.describe('Start of the grain.'),
    downloads: count,
    plays: count,
    listeners: count,
    completes: count,
    impressions: count,
    revenue_micros: int64.optional().describe('Millionths of the currency.'),
  })
  .describe('Counts for one episode in one grain of time. An absent count was not measured; it is not zero.');
export type EvidenceRow = z.output<typeof evidenceRow>;

/** Numbers are kept for these years: beyond them a report is a mistake. */
const periodEdge = instant.refine((text) => Date.parse(text) >= 0 && Date.parse(text) <= Date.UTC(2200, 0), {
  error: 'Write a time of the years 1970 to 2199.',
});

/** The rows of one message, and the form of the file behind `rows_url`. */
export const evidenceRows = z.array(evidenceRow).max(maxEvidenceRows);

/** A platform's own report, keyed by source label, kind, period and revision. */
export const platformEvidenceBody = z.strictObject({
  source_label: line(64).describe('Your name of the source; with kind, period and revision it names the report.'),
  platform: line(64).describe('Where it was counted.'),
  kind: z.enum(['delivery', 'revenue', 'engagement']),
  period: z.strictObject({ start: periodEdge, end: periodEdge }).describe('From start on, and before end.'),
  granularity: z.enum(['hour', 'day', 'week', 'month', 'total']),
  revision: ordinal.max(2 ** 31 - 1).describe('1 first; other numbers are the next revision.'),
  rows_digest: digest.describe(
    'SHA-256 of the canonical form of `rows` (RFC 8785), or of the bytes behind `rows_url`.',
  ),
  rows: evidenceRows.optional().describe('Either these or rows_url.'),
  rows_url: webUrl.optional().describe('A file of these rows as a JSON array.'),
  currency: currency.optional().describe('With kind revenue, and no other.'),
  method_note: text(2000).describe('Your way of counting.'),
  finality: z.enum(['provisional', 'final']),
  x: extension.optional(),
});
export type PlatformEvidence = z.output<typeof platformEvidenceBody>;
