import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, foundProblem, instant, leaseReason, reference, sha256, webUrl } from '../fields.ts';

/** Platforms that take presentations through an interface for hosts (docs/platforms.md). */
const platformNames = ['apple_podcasts'] as const;

const action = z.enum(['submit', 'refresh', 'withdraw']);
const externalId = z.string().min(1).max(200);

/** What a platform answered: its own reference, and digests of what was sent and answered. The texts themselves are not kept. */
const externalReceipt = z.strictObject({
  action,
  /** The platform's reference of this exchange; absent where its answer had none. */
  id: z.string().min(1).max(200).optional(),
  /** When the answer came. */
  at: instant,
  status: z.int().min(100).max(599),
  sent_sha256: sha256,
  answered_sha256: sha256,
});

/** A request that was sent, or was about to be, and has no outcome yet. */
const attempt = z.strictObject({ action, begun_at: instant, sent_sha256: sha256 });

const ambiguity = z.enum(['none', 'unknown', 'conflicting']);
/** What is known of an ambiguous outcome, in words. */
const known = z.string().min(1).max(1000);

/** Platform submissions: the presentation of one episode on one platform (docs/platforms.md). */
export const platformSubmissions = defineResource({
  type: 'platform_submissions',
  noun: 'platform_submission',
  prefix: 'pls',
  attributes: z.strictObject({
    platform: z.enum(platformNames),
    episode_id: reference('ep'),
    podcast_id: reference('pod'),
    /** `<platform>:<episode>`: an episode has one living submission on each platform. */
    episode_on_platform: z.string().max(100),
    /** The address that was sent; it never changes. */
    playlist_url: webUrl.optional(),
    /** SHA-256 of the presentation that the episode had then. */
    presentation_sha256: sha256.optional(),
    /** The platform's name of the submission. */
    external_id: externalId.optional(),
    /** The last answer; the versions have those before. */
    external_receipt: externalReceipt.optional(),
    /** unknown: the platform may or may not have acted. conflicting: its statements contradict each other. */
    ambiguity,
    known: known.optional(),
    attempt: attempt.optional(),
    submitted_at: instant.optional(),
    /** The platform said that it has nothing under this submission: it may be submitted again. */
    absent_at: instant.optional(),
    /** When the platform is asked next. */
    refresh_at: instant.optional(),
    /** A withdrawal that the platform has not confirmed. */
    withdrawal: z.strictObject({ requested_at: instant, cause }).optional(),
    /** Why the last request came to nothing. */
    problem: foundProblem.optional(),
  }),
  states: ['draft', 'submitting', 'submitted', 'accepted', 'ambiguous', 'rejected', 'withdrawn'],
  terminalStates: ['rejected', 'withdrawn'],
  links: {
    podcast: { attribute: 'podcast_id', type: 'podcasts' },
    episode: { attribute: 'episode_id', type: 'episodes' },
  },
  uniqueAttributes: ['episode_on_platform'],
});

const base = { subject: 'platform_submissions', hasRule: true } as const;
const roles = ['owner', 'publisher', 'admin'] as const;
const report = {
  ...base,
  reason: leaseReason,
  machines: ['management'],
  problems: ['lease_lost', 'state_not_allowed'],
} as const;

export const platformSubmissionCommands = {
  'platform_submission.create': defineCommand({
    ...base,
    type: 'platform_submission.create',
    to: 'draft',
    changes: z.strictObject({ platform: z.enum(platformNames), episode_id: reference('ep') }),
    roles,
    event: 'platform_submission.created',
    problems: ['link_not_found', 'value_taken'],
    summary:
      'Prepares the submission of an episode’s presentation to a platform; nothing is sent. An episode has one at a time on each platform.',
  }),
  'platform_submission.submit': defineCommand({
    ...base,
    type: 'platform_submission.submit',
    from: ['draft', 'ambiguous'],
    to: 'submitting',
    changes: z.strictObject({}),
    roles,
    mode: 'async',
    review: 'host',
    event: 'platform_submission.requested',
    problems: [
      'platform_not_configured',
      'presentation_not_ready',
      'capability_not_supported',
      'state_not_allowed',
      'rate_limited',
    ],
    externalEffect: 'The platform is given the address of the episode’s playlist.',
    summary:
      'Submits the presentation. After an ambiguous outcome only once a refresh has found that the platform has nothing under it.',
  }),
  'platform_submission.refresh': defineCommand({
    ...base,
    type: 'platform_submission.refresh',
    from: ['submitted', 'ambiguous'],
    changes: z.strictObject({}),
    roles,
    machines: ['management'],
    mode: 'async',
    event: 'platform_submission.refresh_requested',
    problems: ['platform_not_configured', 'state_not_allowed', 'rate_limited'],
    externalEffect: 'The platform is asked for the state of the submission; nothing changes there.',
    summary: 'Reads the state of the submission at the platform: the way out of an ambiguous outcome.',
  }),
  'platform_submission.withdraw': defineCommand({
    ...base,
    type: 'platform_submission.withdraw',
    from: ['submitted', 'accepted'],
    changes: z.strictObject({ cause }),
    roles,
    machines: ['management'],
    mode: 'async',
    review: 'host',
    event: 'platform_submission.withdrawal_requested',
    problems: ['platform_not_configured', 'state_not_allowed', 'rate_limited'],
    externalEffect: 'The platform is asked to forget the address.',
    summary: 'Takes the presentation back from the platform; the state follows when the platform has answered.',
  }),
  'platform_submission.discard': defineCommand({
    ...base,
    type: 'platform_submission.discard',
    from: ['draft', 'ambiguous'],
    to: 'withdrawn',
    changes: z.strictObject({}),
    roles,
    event: 'platform_submission.discarded',
    problems: ['state_not_allowed'],
    summary: 'Ends a submission of which the platform has nothing.',
  }),
  'platform_submission.begin': defineCommand({
    ...report,
    type: 'platform_submission.begin',
    from: ['submitting', 'submitted', 'accepted'],
    changes: z.strictObject({ action, sent_sha256: sha256 }),
    event: 'platform_submission.attempted',
    summary: 'A worker is about to send a request; if no outcome follows, the outcome is ambiguous.',
  }),
  'platform_submission.postpone': defineCommand({
    ...report,
    type: 'platform_submission.postpone',
    from: ['submitting', 'submitted', 'accepted'],
    changes: z.strictObject({ problem: foundProblem }),
    event: 'platform_submission.postponed',
    summary: 'The platform took nothing and the worker sends the request again later.',
  }),
  'platform_submission.record': defineCommand({
    ...report,
    type: 'platform_submission.record',
    from: ['submitting', 'submitted', 'accepted', 'ambiguous'],
    to: ['submitted', 'accepted', 'rejected', 'ambiguous', 'withdrawn'],
    changes: z.strictObject({
      found: z.enum(['submitted', 'accepted', 'rejected', 'withdrawn', 'absent', 'conflicting']),
      external_id: externalId.optional(),
      external_receipt: externalReceipt,
      /** The platform's reason, or what contradicts what. */
      detail: known.optional(),
    }),
    settles: 'succeeded',
    event: 'platform_submission.recorded',
    summary: 'Records what the platform answered.',
  }),
  'platform_submission.fail': defineCommand({
    ...report,
    type: 'platform_submission.fail',
    from: ['submitting', 'submitted', 'accepted', 'ambiguous'],
    to: ['draft', 'submitted', 'accepted', 'rejected', 'ambiguous'],
    changes: z.strictObject({
      problem: foundProblem,
      /** Absent: unknown after an attempt that was begun, else not_taken. */
      outcome: z.enum(['rejected', 'unknown', 'conflicting', 'not_taken']).optional(),
      external_receipt: externalReceipt.optional(),
    }),
    settles: 'failed',
    event: 'platform_submission.failed',
    summary: 'Records that the platform refused the request, that its outcome is not known, or that nothing was taken.',
  }),
} as const;
