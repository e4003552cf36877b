import { hash } from 'node:crypto';
import type { DecisionContext } from '@longwave/ad-decision';
import { isId } from '@longwave/ids';
import { parseOrProblem } from '@longwave/problems';
import type { DecideRequest } from '@longwave/rpc/serving';
import { z } from 'zod';

const id = (prefix: string) =>
  z.string().refine((text) => isId(text, prefix), { message: `expected an id ${prefix}_…` });
/** PostgreSQL stores no NUL, and one refused row fails its whole batch. */
const word = z.string().regex(/^[^\0]{1,64}$/u);
const milliseconds = (max: number) => z.bigint().min(1n).max(BigInt(max)).transform(Number);

const schema = z.strictObject({
  decisionId: id('dec'),
  workspaceId: id('ws'),
  podcastId: id('pod'),
  episodeId: id('ep'),
  listenerBucket: z
    .instanceof(Uint8Array)
    .refine((bytes) => bytes.length === 0 || bytes.length === 16, { message: 'expected 16 bytes or none' }),
  breaks: z
    .array(
      z.strictObject({
        key: word,
        position: z.enum(['pre', 'mid', 'post']),
        maxSlots: z.int().min(1).max(16),
        maxDurationMs: milliseconds(3_600_000),
      }),
    )
    .max(32)
    .refine((breaks) => new Set(breaks.map((one) => one.key)).size === breaks.length, { message: 'A key came twice.' }),
  streamFormat: word,
  country: z.string().regex(/^([A-Z]{2})?$/),
  atMs: milliseconds(8.64e15),
});

export interface PlayRequest {
  readonly workspaceId: string;
  readonly context: DecisionContext;
  readonly hasListener: boolean;
  /** SHA-256 (hex) over JCS of the whole request. */
  readonly digest: string;
}

/** SHA-256 (hex) over JCS (RFC 8785) of the whole request: the literals name their keys in its order. */
function digestOf(request: z.output<typeof schema>): string {
  const { atMs, country, decisionId, episodeId, podcastId, streamFormat, workspaceId } = request;
  const breaks = request.breaks.map(({ key, maxDurationMs, maxSlots, position }) => ({
    key,
    maxDurationMs,
    maxSlots,
    position,
  }));
  const listenerBucket = Buffer.from(request.listenerBucket).toString('hex');
  const canonical = {
    atMs,
    breaks,
    country,
    decisionId,
    episodeId,
    listenerBucket,
    podcastId,
    streamFormat,
    workspaceId,
  };
  return hash('sha256', JSON.stringify(canonical), 'hex');
}

/** The request of one play. Throws `validation_failed` naming every wrong field. */
export function parsePlayRequest(request: DecideRequest): PlayRequest {
  const parsed = parseOrProblem(schema, request);
  const { workspaceId, listenerBucket, ...context } = parsed;
  return { workspaceId, context, hasListener: listenerBucket.length > 0, digest: digestOf(parsed) };
}
