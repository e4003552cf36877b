import { createHash } from 'node:crypto';
import type { DecisionContext } from '@longwave/ad-decision';
import { isId } from '@longwave/ids';
import { parseOrProblem } from '@longwave/problems';
import type { DecideRequest } from '@longwave/rpc/serving';
import canonicalize from 'canonicalize';
import { z } from 'zod';

const id = (prefix: string) =>
  z.string().refine((text) => isId(text, prefix), { message: `expected an id ${prefix}_…` });
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
        key: z.string().min(1).max(64),
        position: z.enum(['pre', 'mid', 'post']),
        maxSlots: z.int().min(1).max(16),
        maxDurationMs: milliseconds(3_600_000),
      }),
    )
    .max(32)
    .refine((breaks) => new Set(breaks.map((one) => one.key)).size === breaks.length, { message: 'A key came twice.' }),
  streamFormat: z.string().min(1).max(64),
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

/** The request of one play. Throws `validation_failed` naming every wrong field. */
export function parsePlayRequest(request: DecideRequest): PlayRequest {
  const { workspaceId, listenerBucket, ...context } = parseOrProblem(schema, request);
  const canonical = canonicalize({
    workspaceId,
    listenerBucket: Buffer.from(listenerBucket).toString('hex'),
    ...context,
  });
  const digest = createHash('sha256').update(canonical!).digest('hex');
  return { workspaceId, context, hasListener: listenerBucket.length > 0, digest };
}
