import { z } from 'zod';

/** Members that a later release adds are kept. */
const place = z.looseObject({ sequence: z.int(), digest: z.string() });

/** What became of one message. */
const messageResult = place.extend({
  status: z.enum(['accepted', 'replayed']),
  receipt_id: z.string(),
  operation_id: z.string(),
  resource: z.looseObject({ type: z.string(), id: z.string() }),
  accepted_at: z.string(),
});
export type MessageResult = z.output<typeof messageResult>;

export const submission = z.looseObject({ results: z.array(messageResult), head: place });

/** Results of the messages before the one that was refused. */
export const resultsBefore = z.looseObject({ results: z.array(messageResult).default([]) });

/** Where a stream stands. */
export const streamHead = z.looseObject({
  stream_id: z.string(),
  authority_id: z.string(),
  state: z.enum(['open', 'quarantined']),
  head: place.extend({ issued_at: z.string() }).nullable(),
  last_receipt_id: z.string().nullable(),
});
export type StreamHead = z.output<typeof streamHead>;

/** An accepted message as the exchange keeps it. */
export const storedMessage = place.extend({
  protected: z.string(),
  payload: z.string(),
  signature: z.string(),
  receipt_id: z.string(),
  accepted_at: z.string(),
});
export type StoredMessage = z.output<typeof storedMessage>;
export const messageMapping = storedMessage.extend({ resource: z.looseObject({ type: z.string(), id: z.string() }) });
export const messagePage = z.looseObject({ messages: z.array(storedMessage), next_after: z.int().nullable() });

/** A receipt: a compact JWS of the exchange. */
export const receipt = z.looseObject({ id: z.string(), operation_id: z.string(), jws: z.string() });
export type Receipt = z.output<typeof receipt>;

export const publicKeys = z.looseObject({
  keys: z.array(z.looseObject({ kty: z.string(), crv: z.string(), x: z.string(), kid: z.string().optional() })),
});

/** A workspace's newest receipt with the proof that a signed checkpoint contains it. */
export const checkpointProof = z.looseObject({
  checkpoint: z.string(),
  workspace_id: z.string(),
  seq: z.int().min(1),
  head: z.string().regex(/^[0-9a-f]{64}$/),
  leaf_index: z.int().min(0),
  proof: z.array(z.string().regex(/^[0-9a-f]{64}$/)),
});
export type CheckpointProof = z.output<typeof checkpointProof>;

/** What a source version is at Longwave. */
export const snapshotMapping = z.looseObject({
  source_id: z.string(),
  source_version: z.int(),
  state: z.enum(['received', 'encoding', 'ready', 'failed', 'lapsed', 'superseded', 'revoked']),
  problem: z.looseObject({}).nullish(),
  resource_id: z.string(),
  podcast_id: z.string().nullish(),
  episode_id: z.string().nullish(),
  rendition: z.looseObject({}).nullish(),
  slots: z.array(z.looseObject({})).nullish(),
  message_digest: z.string(),
  stream_id: z.string(),
  sequence: z.int(),
});
export type SnapshotMapping = z.output<typeof snapshotMapping>;

/** Where a listener is sent. */
export const resolution = z.looseObject({
  route: z.enum(['source', 'ad_free', 'platform_controlled', 'clean']),
  url: z.string().nullable(),
  expires_at: z.string(),
  alias_version: z.int().nullable(),
  content_version: z.int().nullable(),
  reason_code: z.string(),
});
export type Resolution = z.output<typeof resolution>;

const count = z.int().min(0).optional();

/** Rows of a platform's report, each beside our own downloads in the same time. */
export const comparedEvidence = z.looseObject({
  evidence_id: z.string(),
  source_label: z.string(),
  platform: z.string(),
  kind: z.string(),
  finality: z.string(),
  method_note: z.string(),
  currency: z.string().optional(),
  rows: z.array(
    z.looseObject({
      source_id: z.string(),
      at: z.string(),
      platform: z.looseObject({
        ...{ downloads: count, plays: count, listeners: count, completes: count, impressions: count },
        revenue_micros: z.string().optional(),
      }),
      /** Null where the source has no episode, or the grain does not fall on whole hours. */
      ours: z.looseObject({ downloads: z.int().min(0) }).nullable(),
    }),
  ),
  next_after: z.int().nullable(),
});
export type ComparedEvidence = z.output<typeof comparedEvidence>;

/** What should serve at the addresses of the platform, and who has applied it. */
const servingIntent = z.looseObject({
  intent_id: z.string(),
  version: z.int(),
  plan_digest: z.string().nullable(),
  actions: z.array(z.looseObject({ alias: z.string() })),
  effective_at: z.string(),
  supersedes: z.int(),
  acknowledgements: z.array(
    z.looseObject({
      by: z.string(),
      intent_version: z.int(),
      status: z.enum(['applied', 'rejected', 'superseded']),
      applied_at: z.string(),
      detail_code: z.string().nullish(),
    }),
  ),
  overdue: z.boolean(),
});
export type ServingIntent = z.output<typeof servingIntent>;
export const servingIntents = z.looseObject({
  intents: z.array(servingIntent),
  next_after_version: z.int().nullable(),
});
