import { hash } from 'node:crypto';
import type { DecisionContext } from '@longwave/ad-decision';
import { isId } from '@longwave/ids';
import { parseOrProblem } from '@longwave/problems';
import type { DecideRequest } from '@longwave/rpc/serving';
import { z } from 'zod';
import type { ListenerBuckets } from '../listeners/listener-memory.ts';

const id = (prefix: string) =>
  z.string().refine((text) => isId(text, prefix), { message: `This is not an ID of the form ${prefix}_….` });
/** PostgreSQL stores no NUL, and one refused row fails its whole batch. */
const word = z.string().regex(/^[^\0]{1,64}$/u);
const label = z.string().regex(/^[^\0]{0,128}$/u);
const wholeMs = z.bigint().min(0n).max(BigInt(8.64e15)).transform(Number);
const bucket = z
  .instanceof(Uint8Array)
  .refine((bytes) => bytes.length === 0 || bytes.length === 16, { message: 'It must have 16 bytes or none.' });
const milliseconds = (max: number) => z.bigint().min(1n).max(BigInt(max)).transform(Number);

const fields = z.strictObject({
  decisionId: id('dec'),
  workspaceId: id('ws'),
  podcastId: id('pod'),
  episodeId: id('ep'),
  listenerBucket: bucket,
  previousListenerBucket: bucket,
  breaks: z
    .array(
      z.strictObject({
        key: word,
        position: z.enum(['pre', 'mid', 'post']),
        maxSlots: z.int().min(1).max(16),
        maxDurationMs: milliseconds(3_600_000),
        positionMs: wholeMs,
        slotRules: z
          .array(
            z.strictObject({
              slot: z.int().min(0).max(15),
              maxDurationMs: wholeMs,
              lineItemTypes: z.array(z.enum(['exclusive', 'sponsorship', 'guaranteed', 'non_guaranteed', 'house'])),
              productions: z.array(z.enum(['host_read', 'producer_read', 'produced'])),
            }),
          )
          .max(16),
      }),
    )
    .max(32)
    .refine((breaks) => new Set(breaks.map((one) => one.key)).size === breaks.length, { message: 'A key came twice.' }),
  streamFormat: word,
  streamFormats: z.array(word).max(8),
  country: z.string().regex(/^([A-Z]{2})?$/),
  region: z.string().regex(/^([A-Z]{2}-[A-Z0-9]{1,3})?$/),
  surface: word,
  device: label,
  operatingSystem: label,
  app: label,
  language: label,
  explicit: z.boolean(),
  contentCategories: z.array(label).max(64),
  publishedAtMs: wholeMs,
  loudnessCentilufs: z.int().min(-10_000).max(0),
  adLoadLimitMs: wholeMs,
  atMs: milliseconds(8.64e15),
});
const schema = fields.refine(
  ({ streamFormat, streamFormats }) => streamFormats.length === 0 || streamFormats.includes(streamFormat),
  { path: ['streamFormats'], message: 'The stream format of the file is missing.' },
);

export interface PlayRequest {
  readonly workspaceId: string;
  readonly context: DecisionContext;
  /** Undefined when the listener is unknown. */
  readonly listener: ListenerBuckets | undefined;
  /** `jcsDigest` of the whole request. */
  readonly digest: string;
}

/**
 * `jcsDigest` of the whole request, buckets in hex: with all keys in the order of JCS (RFC 8785), JSON is canonical already, and sorting
 * costs more than the rest of the request's reading.
 */
function digestOf(request: z.output<typeof schema>): string {
  const { operatingSystem } = request;
  const ordered = {
    adLoadLimitMs: request.adLoadLimitMs,
    app: request.app,
    atMs: request.atMs,
    breaks: request.breaks.map((one) => ({
      key: one.key,
      maxDurationMs: one.maxDurationMs,
      maxSlots: one.maxSlots,
      position: one.position,
      positionMs: one.positionMs,
      slotRules: one.slotRules.map(({ lineItemTypes, maxDurationMs, productions, slot }) => ({
        lineItemTypes,
        maxDurationMs,
        productions,
        slot,
      })),
    })),
    contentCategories: request.contentCategories,
    country: request.country,
    decisionId: request.decisionId,
    device: request.device,
    episodeId: request.episodeId,
    explicit: request.explicit,
    language: request.language,
    listenerBucket: hex(request.listenerBucket),
    loudnessCentilufs: request.loudnessCentilufs,
    // A request without it, or without stream formats, has the same digest as before the field existed.
    operatingSystem: operatingSystem === '' ? undefined : operatingSystem,
    podcastId: request.podcastId,
    previousListenerBucket: hex(request.previousListenerBucket),
    publishedAtMs: request.publishedAtMs,
    region: request.region,
    streamFormat: request.streamFormat,
    streamFormats: request.streamFormats.length === 0 ? undefined : request.streamFormats,
    surface: request.surface,
    workspaceId: request.workspaceId,
  };
  return hash('sha256', JSON.stringify(ordered), 'hex');
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const bucketsOf = (current: Uint8Array, previous: Uint8Array): ListenerBuckets => ({
  current: hex(current),
  previous: previous.length > 0 ? hex(previous) : undefined,
});

/** The request of one play. Throws `validation_failed` naming every wrong field. */
export function parsePlayRequest(request: DecideRequest): PlayRequest {
  const parsed = parseOrProblem(schema, request);
  const { workspaceId, listenerBucket, previousListenerBucket, ...play } = parsed;
  const { loudnessCentilufs, adLoadLimitMs, streamFormats, ...rest } = play;
  const context: DecisionContext = {
    ...rest,
    ...(streamFormats.length > 0 && { streamFormats }),
    loudnessLufs: loudnessCentilufs === 0 ? undefined : loudnessCentilufs / 100,
    adLoadLimitMs: adLoadLimitMs === 0 ? undefined : adLoadLimitMs,
  };
  const listener = listenerBucket.length > 0 ? bucketsOf(listenerBucket, previousListenerBucket) : undefined;
  return { workspaceId, context, listener, digest: digestOf(parsed) };
}
