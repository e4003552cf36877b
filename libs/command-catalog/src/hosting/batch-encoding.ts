import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { foundProblem, instant, leaseReason, reference } from '../fields.ts';
import { segment } from './media-files.ts';

/** The change that a batch encoding applies to every episode. */
export const batchInitiators = ['intro', 'outro', 'intro_outro', 'audio_format', 'loudness'] as const;

/** The initiator of a batch that names none. */
export const defaultInitiator = 'intro_outro';

/** Numbers of episodes; one that something newer changed is in none of them. A `failed` episode keeps what it had. */
const counts = { total: z.int().min(0), done: z.int().min(0), failed: z.int().min(0) };

/** Batch encodings: apply the present intro, outro or settings to every episode of a podcast. */
export const batchEncodings = defineResource({
  type: 'batch_encodings',
  noun: 'batch_encoding',
  prefix: 'bat',
  attributes: z.strictObject({
    podcast_id: reference('pod'),
    initiator: z.enum(batchInitiators),
    ...counts,
    /** The part for the episodes; absent: they lose theirs. */
    intro: segment.optional(),
    outro: segment.optional(),
    /** The batch that this one reverts. */
    reverts: reference('bat').optional(),
    started_at: instant.optional(),
    finished_at: instant.optional(),
    problem: foundProblem.optional(),
  }),
  states: ['pending', 'running', 'completed', 'failed', 'cancelled'],
  terminalStates: ['completed', 'failed', 'cancelled'],
  links: { podcast: { attribute: 'podcast_id', type: 'podcasts' } },
  /** One at a time per podcast. */
  uniqueAttributes: ['podcast_id'],
});

export const batchEncodingCommands = {
  'batch_encoding.start': defineCommand({
    type: 'batch_encoding.start',
    subject: 'batch_encodings',
    to: 'pending',
    changes: z.strictObject({
      podcast_id: reference('pod'),
      initiator: z.enum(batchInitiators).default(defaultInitiator),
    }),
    roles: ['owner', 'producer'],
    mode: 'async',
    endedBy: 'batch_encoding.cancel',
    event: 'batch_encoding.started',
    hasRule: true,
    problems: ['value_taken', 'state_not_allowed'],
    summary: 'Applies the current intro, outro or audio settings to every episode; one batch at a time per podcast.',
  }),
  'batch_encoding.revert': defineCommand({
    type: 'batch_encoding.revert',
    subject: 'batch_encodings',
    to: 'pending',
    changes: z.strictObject({ podcast_id: reference('pod'), reverts: reference('bat') }),
    roles: ['owner', 'producer'],
    mode: 'async',
    endedBy: 'batch_encoding.cancel',
    event: 'batch_encoding.reverted',
    hasRule: true,
    problems: ['value_taken', 'state_not_allowed', 'link_not_found'],
    summary: 'Restores the audio that a batch encoding replaced, except where an episode has newer audio.',
  }),
  'batch_encoding.advance': defineCommand({
    type: 'batch_encoding.advance',
    subject: 'batch_encodings',
    from: ['pending', 'running'],
    to: 'running',
    changes: z.strictObject(counts),
    reason: leaseReason,
    machines: ['management'],
    event: 'batch_encoding.advanced',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'Reports the progress of a batch encoding.',
  }),
  'batch_encoding.complete': defineCommand({
    type: 'batch_encoding.complete',
    subject: 'batch_encodings',
    from: ['pending', 'running'],
    to: 'completed',
    changes: z.strictObject(counts),
    reason: leaseReason,
    machines: ['management'],
    settles: 'succeeded',
    event: 'batch_encoding.completed',
    hasRule: true,
    problems: ['lease_lost'],
    summary:
      'All episodes were processed; `failed` counts episodes that keep their earlier audio, `total` excludes episodes with newer changes.',
  }),
  'batch_encoding.fail': defineCommand({
    type: 'batch_encoding.fail',
    subject: 'batch_encodings',
    from: ['pending', 'running'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    reason: leaseReason,
    machines: ['management'],
    settles: 'failed',
    event: 'batch_encoding.failed',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'A batch encoding failed; records the reason.',
  }),
  'batch_encoding.cancel': defineCommand({
    type: 'batch_encoding.cancel',
    subject: 'batch_encodings',
    from: ['pending', 'running'],
    to: 'cancelled',
    changes: z.strictObject({}),
    roles: ['owner', 'producer'],
    settles: 'cancelled',
    event: 'batch_encoding.cancelled',
    hasRule: true,
    externalEffect: 'Its encodings stop and their encoding time is returned.',
    summary: 'Stops a batch encoding; episodes that have the new audio keep it until it is reverted.',
  }),
} as const;
