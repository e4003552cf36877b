import { z } from 'zod';
import { defineCommand, defineResource } from './definition.ts';
import { foundProblem, leaseReason, reference, sha256, webUrl } from './fields.ts';

const file = z.strictObject({
  role: z.enum(['source', 'rendition', 'waveform']),
  format: z.string(),
  stream_format: z.string().optional(),
  storage_key: z.string(),
  size_bytes: z.int().min(0),
  sha256,
  bitrate: z.int().min(1).optional(),
  duration_ms: z.int().min(0).optional(),
});

const loudness = z.strictObject({
  /** Null for silence, which has no loudness (ITU-R BS.1770 gating). */
  input_lufs: z.number().nullable(),
  output_lufs: z.number().nullable(),
  true_peak_dbtp: z.number().nullable(),
});

/** Productions: one encoding of one source for one episode. */
export const productions = defineResource({
  type: 'productions',
  noun: 'production',
  prefix: 'pro',
  attributes: z.strictObject({
    episode_id: reference('ep'),
    file_url: webUrl,
    upload_id: reference('upl'),
    publication_flag: z.boolean(),
    files: z.array(file),
    audio_duration_ms: z.int().min(0).optional(),
    loudness: loudness.optional(),
    reserved_encoding_ms: z.int().min(0).optional(),
    /** UTC month whose balance holds the reservation, "2026-11". */
    encoding_month: z.string().optional(),
    problem: foundProblem.optional(),
  }),
  states: ['initial', 'encoding', 'encoded', 'error'],
  terminalStates: [],
  links: {
    episode: { attribute: 'episode_id', type: 'episodes' },
    upload: { attribute: 'upload_id', type: 'uploads' },
  },
  uniqueAttributes: [],
});

export const productionCommands = {
  'production.create': defineCommand({
    type: 'production.create',
    subject: 'productions',
    to: 'initial',
    changes: z.strictObject({
      episode_id: reference('ep'),
      file_url: webUrl,
      publication_flag: z.boolean().optional(),
    }),
    roles: ['owner', 'editor'],
    event: 'production.created',
    ruled: true,
    problems: ['upload_not_received'],
    summary: 'Attaches an uploaded file to an episode, ready to be encoded.',
  }),
  'production.start': defineCommand({
    type: 'production.start',
    subject: 'productions',
    from: ['initial'],
    to: 'encoding',
    changes: z.strictObject({ publish_episode: z.boolean().optional() }),
    roles: ['owner', 'editor'],
    mode: 'async',
    event: 'production.started',
    ruled: true,
    problems: ['encoding_time_exhausted', 'temporarily_unavailable', 'upload_not_received'],
    externalEffect: 'Encoding time is reserved and an encoder takes the job.',
    summary: 'Starts encoding; with publish_episode the episode is published afterwards.',
  }),
  'production.complete': defineCommand({
    type: 'production.complete',
    subject: 'productions',
    from: ['encoding'],
    to: 'encoded',
    changes: z.strictObject({ files: z.array(file).min(1), audio_duration_ms: z.int().min(1), loudness }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'succeeded',
    event: 'production.encoded',
    ruled: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports what it made; reserved encoding time is settled.',
  }),
  'production.fail': defineCommand({
    type: 'production.fail',
    subject: 'productions',
    from: ['encoding'],
    to: 'error',
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['encoder'],
    settles: 'failed',
    event: 'production.failed',
    ruled: true,
    problems: ['lease_lost'],
    summary: 'An encoder reports why it could not encode; reserved encoding time is returned.',
  }),
} as const;
