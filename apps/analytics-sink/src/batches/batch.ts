import { keyMonths } from '@longwave/audience';
import { addressVerdicts, deliveryEventKinds } from '@longwave/events';
import { idempotencyKeyPattern } from '@longwave/idempotency';
import { producerPattern } from '@longwave/principal';
import { Problem, fieldErrors, fieldSentence, type FieldError } from '@longwave/problems';
import { z } from 'zod';

const maxRows = 1000;
const schemaVersion = 1;

/** A producer's name for a batch, a response or a claim, in the form of an idempotency key. */
export const givenName = z
  .string()
  .regex(idempotencyKeyPattern, '1 to 128 of letters, digits, ".", "_", ":", "-"; no sign first');

const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{26}$`), `This is not an ID of the form ${prefix}_….`);
/** RFC 3339 with any offset; stored in UTC. */
const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => (text.endsWith('Z') ? text : new Date(text).toISOString()));
/** A byte offset. */
const offset = z.int().min(0);
const status = z.int().min(100).max(599);
/** A listener's bucket: 16 bytes that the producer derives with a rotating salt; never an address or a user agent. */
const listener = z.string().regex(/^[0-9a-f]{32}$/, 'expected 16 bytes in lower-case hex');

const place = { workspace: id('ws'), podcast: id('pod'), episode: id('ep') };
const region = {
  /** ISO 3166-1 alpha-2. */
  country: z
    .string()
    .regex(/^(?:[A-Z]{2}|unknown)$/)
    .default('unknown'),
  /** ISO 3166-2. */
  region: z
    .string()
    .regex(/^(?:[A-Z]{2}-[A-Z0-9]{1,3}|unknown)$/)
    .default('unknown'),
};

/** A producer's verdict on a user agent by rules 6 to 8, 10 and 11 (docs/counting.md#rules-and-reason-codes). */
const userAgentVerdicts = ['ok', 'watch', 'scout', 'bot_ua', 'malformed_ua', 'no_ua'] as const;

/** The producer's verdicts: it alone knows address and user agent. */
const verdicts = {
  user_agent_verdict: z.enum(userAgentVerdicts),
  address_verdict: z.enum(addressVerdicts),
};

const digest = z.string().regex(/^[0-9a-f]{64}$/, 'expected SHA-256 in lower-case hex');

/** Written bytes. The id of their fact depends on the order of all fields of a row. */
const written = {
  /** First byte written. */
  from: offset,
  /** After the last byte written. */
  to: offset,
  /** First byte of the request. */
  started_at: instant,
  /** When the bytes were written. */
  at: instant,
  status,
  listener,
  /** The bucket under the previous salt; only for requests of the first 48 h of a UTC month. */
  previous_listener: listener.optional(),
  ...place,
  ...verdicts,
  /** The request announced a prefetch or a preview. */
  prefetch: z.boolean().default(false),
  ...region,
};

const byteRangeServed = z.strictObject({
  kind: z.literal('byte_range_served'),
  /** The response; the bytes of its rows add up. */
  request: givenName,
  arrangement: digest,
  /** A serving of the decision that the bytes were made for; without it no ad is delivered. */
  serving_id: id('srv').optional(),
  /** Index of the arrangement's part that `from` and `to` count from; without it they count from the start of the arrangement. */
  part: z.int().min(0).max(9_999).optional(),
  ...written,
});

const mediaRangeServed = z.strictObject({
  kind: z.literal('media_range_served'),
  /** The response; the bytes of its rows add up. */
  request: givenName,
  /** The listener's play by HLS, as the producer names it: requests of a minute are one request within a play. */
  play: givenName,
  /** The presentation of the episode, for tracks of its ads too. */
  presentation: digest,
  /** The track of which `from` and `to` are bytes, initialization section included. */
  track: digest,
  /** The serving that the track of an ad was served for; absent for the content. */
  serving_id: id('srv').optional(),
  ...written,
});

const playlistServed = z.strictObject({
  kind: z.literal('playlist_served'),
  request: givenName,
  playlist: givenName,
  at: instant,
  status,
  listener,
  ...place,
});

const assetServed = z.strictObject({
  kind: z.literal('asset_served'),
  request: givenName,
  asset: givenName,
  at: instant,
  status,
  listener,
  ...place,
});

const deliveryEvent = z.strictObject({
  kind: z.literal('delivery_event'),
  serving_id: id('srv'),
  event: z.enum(deliveryEventKinds),
  /** 0 unless the player counts repetitions. */
  seq: z.int().min(0).max(99_999),
  at: instant,
  /** It came after the opportunity of its ad had expired. */
  late: z.boolean(),
  workspace: id('ws'),
  listener,
  ...verdicts,
  ...region,
});

/** Something that another party counted. */
const claimed = {
  claim: givenName,
  at: instant,
  quantity: z.int().min(1).max(1_000_000_000).default(1),
  ...place,
  country: region.country,
};

const downloadQualified = z.strictObject({ kind: z.literal('download_qualified'), ...claimed });
const adDelivered = z.strictObject({
  kind: z.literal('ad_delivered'),
  ...claimed,
  campaign: id('cmp'),
  line_item: id('li'),
  creative: id('crv').optional(),
});

const rowSchema = z.discriminatedUnion('kind', [
  byteRangeServed,
  mediaRangeServed,
  playlistServed,
  assetServed,
  deliveryEvent,
  downloadQualified,
  adDelivered,
]);

export const batchSchema = z.strictObject({
  batch_id: givenName,
  producer: z.string().regex(producerPattern),
  /** 1, 2, 3 … without a gap; each names one batch of the producer. */
  sequence: z.int().min(1),
  /** Half-open; every row's `at` lies in it. */
  window: z.strictObject({ from: instant, to: instant }),
  schema_version: z.literal(schemaVersion),
  rows: z.array(rowSchema).min(1).max(maxRows),
});

export type Batch = z.infer<typeof batchSchema>;
export type BatchRow = Batch['rows'][number];
export type RowOf<K extends BatchRow['kind']> = Extract<BatchRow, { kind: K }>;

const maxFieldErrors = 20;
/** No podcast was measured before, and PostgreSQL cannot store every year. */
const earliest = Date.parse('2000-01-01T00:00:00Z');
/** The longest response. */
const maxResponseMs = 24 * 3_600_000;
/** How far a producer's clock may be ahead of ours. */
const maxSkewMs = 5 * 60_000;

const invalid = (errors: readonly FieldError[]) => {
  const shown = errors.slice(0, maxFieldErrors);
  return new Problem('validation_failed', shown.map(({ path, detail }) => `${path || '/'}: ${detail}`).join(' '), {
    errors: shown,
  });
};

const error = (path: string, code: string, detail: string): FieldError => ({ path, code, detail });

/** Contradictions between the times, bytes and places of a batch, which the schema cannot express. */
function contradictions({ window, rows }: Batch, now: Date): FieldError[] {
  const [from, to] = [Date.parse(window.from), Date.parse(window.to)];
  if (from < earliest) return [error('/window/from', 'too_early', 'The window begins before the year 2000.')];
  if (from >= to) return [error('/window/to', 'empty_window', 'The window ends before it begins.')];
  if (to > now.getTime() + maxSkewMs) return [error('/window/to', 'in_future', 'The window ends in the future.')];
  return rows.flatMap((row, index) => {
    const at = Date.parse(row.at);
    const found: FieldError[] = [];
    if (at < from || at >= to)
      found.push(error(`/rows/${index}/at`, 'outside_window', 'The time is outside the window of the batch.'));
    if ('region' in row && row.region !== 'unknown' && !row.region.startsWith(`${row.country}-`))
      found.push(error(`/rows/${index}/region`, 'other_country', 'The region is not in the country of the row.'));
    if (row.kind !== 'byte_range_served' && row.kind !== 'media_range_served') return found;
    if (row.previous_listener === row.listener)
      found.push(
        error(
          `/rows/${index}/previous_listener`,
          'same_listener',
          'The previous bucket must differ from the bucket of the row.',
        ),
      );
    if (row.previous_listener !== undefined && keyMonths(new Date(row.started_at)).previous === undefined)
      found.push(
        error(
          `/rows/${index}/previous_listener`,
          'late_link',
          'A previous bucket is accepted only for requests of the first 48 h of a UTC month.',
        ),
      );
    if (row.from >= row.to) found.push(error(`/rows/${index}/to`, 'empty_range', 'The range contains no bytes.'));
    const startedAt = Date.parse(row.started_at);
    if (startedAt > at)
      found.push(error(`/rows/${index}/started_at`, 'after_end', 'The request began after its bytes were written.'));
    if (startedAt < at - maxResponseMs)
      found.push(
        error(
          `/rows/${index}/started_at`,
          'too_early',
          'The request began more than 24 h before its bytes were written.',
        ),
      );
    return found;
  });
}

/** Parses the batch of a body. Throws `validation_failed` with at most 20 errors. */
export function parseBatch(body: unknown, now: Date): Batch {
  const result = batchSchema.safeParse(body, { error: fieldSentence });
  if (!result.success) throw invalid(fieldErrors(result.error));
  const found = contradictions(result.data, now);
  if (found.length > 0) throw invalid(found);
  return result.data;
}

const textAt = (value: unknown, name: string): string | undefined => {
  const found = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof found === 'string' ? found : undefined;
};

/**
 * Throws `permission_denied`, whatever else is wrong with the body, when it names another producer or a workspace that the token is not
 * for. Existing and missing workspaces get the same answer.
 */
export function assertOwnData(
  body: unknown,
  client: { readonly producer: string; readonly workspaces: ReadonlySet<string> },
): void {
  const errors: FieldError[] = [];
  const producer = textAt(body, 'producer');
  if (producer !== undefined && producer !== client.producer)
    errors.push(error('/producer', 'other_producer', 'The token belongs to another producer.'));
  const rows = (body as { readonly rows?: unknown } | null)?.rows;
  for (const [index, row] of (Array.isArray(rows) ? rows : []).entries()) {
    const workspace = textAt(row, 'workspace');
    if (workspace !== undefined && !client.workspaces.has(workspace))
      errors.push(error(`/rows/${index}/workspace`, 'other_workspace', 'The token is not valid for this workspace.'));
  }
  if (errors.length > 0)
    throw new Problem('permission_denied', 'The token is not valid for this producer and these workspaces.', {
      errors: errors.slice(0, maxFieldErrors),
    });
}
