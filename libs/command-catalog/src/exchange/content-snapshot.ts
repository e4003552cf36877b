import { schemas } from '@longwave/exchange-messages';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, foundProblem, instant, leaseReason, reference, sha256, stateReason } from '../fields.ts';
import { markers, storedTranscripts } from '../hosting/media-files.ts';
import { messageSource } from './message-source.ts';

/** The episode as the platform describes it; extensions of the platform stay in the original message. */
const content = schemas['content-snapshot/1'].omit({ x: true });

/** What a source version is here. */
const mapping = {
  podcast_id: reference('pod'),
  episode_id: reference('ep'),
  /** The encoding of its master audio; that of an earlier version when the bytes are the same. */
  production_id: reference('pro'),
};

/** What could not be taken over, such as captions that cannot be fetched; the version serves without it. */
const notes = z.array(foundProblem).max(50);

/** The encoded audio that serves. */
const rendition = z.strictObject({
  format: z.string(),
  sha256,
  size_bytes: z.int().min(1),
  duration_ms: z.int().min(1),
});

/** Content snapshots: one version of an episode that another platform hosts, and what it became here. */
export const contentSnapshots = defineResource({
  type: 'content_snapshots',
  noun: 'content_snapshot',
  prefix: 'csn',
  attributes: z.strictObject({
    ...messageSource,
    content,
    ...z.strictObject(mapping).partial().shape,
    /** Its captions, as they are stored here. */
    transcripts: storedTranscripts.optional(),
    notes: notes.optional(),
    rendition: rendition.optional(),
    /** Places where ads may be inserted, in the time of the rendition. */
    slots: markers.optional(),
    /** Why it failed. */
    problem: foundProblem.optional(),
    /** When a newer version took its place; until then it may have served. */
    superseded_at: instant.optional(),
    revocation_id: reference('cvo').optional(),
    state_reason: stateReason,
  }),
  states: ['received', 'encoding', 'ready', 'failed', 'lapsed', 'superseded', 'revoked'],
  terminalStates: ['revoked'],
  // There are very many: what looks for few other links of a podcast, an episode, an encoding or an authority by name does not meet these.
  links: {
    message_authority: { attribute: 'authority_id', type: 'authority_grants' },
    hosted_podcast: { attribute: 'podcast_id', type: 'podcasts' },
    hosted_episode: { attribute: 'episode_id', type: 'episodes' },
    hosted_production: { attribute: 'production_id', type: 'productions' },
    revocation: { attribute: 'revocation_id', type: 'content_revocations' },
  },
  uniqueAttributes: [],
});

export const contentSnapshotCommands = {
  'content_snapshot.accept': defineCommand({
    type: 'content_snapshot.accept',
    subject: 'content_snapshots',
    to: 'received',
    changes: z.strictObject({ ...messageSource, content }),
    machines: ['hosting-exchange'],
    whileSuspended: 'refused',
    event: 'content_snapshot.accepted',
    hasRule: true,
    problems: ['key_revoked', 'state_not_allowed', 'source_revoked', 'source_version_regression'],
    externalEffect: 'The master audio is fetched, verified and encoded.',
    summary: 'Takes a version of an episode that another platform hosts.',
  }),
  'content_snapshot.map': defineCommand({
    type: 'content_snapshot.map',
    subject: 'content_snapshots',
    from: ['received'],
    to: 'encoding',
    changes: z.strictObject({ ...mapping, transcripts: storedTranscripts, notes }),
    reason: leaseReason,
    machines: ['management'],
    event: 'content_snapshot.mapped',
    hasRule: true,
    problems: ['lease_lost', 'value_taken'],
    summary: 'Names the podcast, the episode and the encoding of a source version.',
  }),
  'content_snapshot.record_ready': defineCommand({
    type: 'content_snapshot.record_ready',
    subject: 'content_snapshots',
    from: ['received', 'encoding'],
    to: 'ready',
    changes: z.strictObject({ rendition, slots: markers }),
    machines: ['management'],
    event: 'content_snapshot.prepared',
    hasRule: true,
    externalEffect: 'Its aliases serve it.',
    summary: 'The source version is encoded and serves.',
  }),
  'content_snapshot.record_failed': defineCommand({
    type: 'content_snapshot.record_failed',
    subject: 'content_snapshots',
    from: ['received', 'encoding'],
    to: 'failed',
    changes: z.strictObject({ problem: foundProblem }),
    /** The lease of the worker that maps it; none when its encoding has failed. */
    reason: leaseReason.optional(),
    machines: ['management'],
    event: 'content_snapshot.failed',
    hasRule: true,
    problems: ['lease_lost'],
    summary: 'The source version cannot serve; `problem` says why. The version before goes on serving.',
  }),
  'content_snapshot.retry': defineCommand({
    type: 'content_snapshot.retry',
    subject: 'content_snapshots',
    from: ['failed'],
    to: 'received',
    changes: z.strictObject({}),
    roles: ['owner', 'admin', 'publisher'],
    event: 'content_snapshot.retried',
    hasRule: true,
    externalEffect: 'The master audio is fetched again.',
    summary: 'Tries a failed source version again, after its host has mended what was wrong.',
  }),
  'content_snapshot.lapse': defineCommand({
    type: 'content_snapshot.lapse',
    subject: 'content_snapshots',
    from: ['ready'],
    to: 'lapsed',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'content_snapshot.lapsed',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'It serves no new play; plays that have begun finish.',
    summary: 'The time for which the platform grants its rights is over. A newer version can serve again.',
  }),
  'content_snapshot.supersede': defineCommand({
    type: 'content_snapshot.supersede',
    subject: 'content_snapshots',
    from: ['received', 'encoding', 'ready', 'failed', 'lapsed'],
    to: 'superseded',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'content_snapshot.superseded',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'A newer version of the same episode has taken its place.',
  }),
  'content_snapshot.revoke': defineCommand({
    type: 'content_snapshot.revoke',
    subject: 'content_snapshots',
    from: ['received', 'encoding', 'ready', 'failed', 'lapsed', 'superseded'],
    to: 'revoked',
    changes: z.strictObject({ revocation_id: reference('cvo'), cause }),
    machines: ['management'],
    event: 'content_snapshot.revoked',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'It serves no new play.',
    summary: 'Its platform has taken the source version back; its history stays.',
  }),
} as const;
