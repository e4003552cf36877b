import { roles } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { instant, reference, shortText } from '../fields.ts';

/** The event of a command that waits for a review; its revision is the new review task. */
export const reviewRequested = 'review.requested';

const note = z.string().trim().min(1).max(2000);

const decision = z.strictObject({
  verdict: z.enum(['approve', 'decline', 'request_changes']),
  /** An account, or the service that acts for an operator. */
  by: shortText,
  at: instant,
  note: note.optional(),
});

/** Review tasks: commands that wait for the approval of another person. */
/** What a sale promises beyond what is left, in slots or in per cent of a break, and who would lose what of which goal. */
export const overbooking = z.strictObject({
  overbooked_by: z.int().min(1).optional(),
  overbooked_share_pct: z.int().min(1).optional(),
  contending: z.array(
    z.strictObject({ line_item_id: reference('li'), loses: z.int().min(0), of_goal: z.int().min(0) }),
  ),
});

/** By what the items of a reconciliation were decided that is to be closed. */
const closing = z.strictObject({
  tolerances: z.array(z.strictObject({ source: z.string(), tolerance_pct: z.number().min(0) })),
  smallest_difference: z.int().min(0).optional(),
  ours: z.int().optional(),
  theirs: z.int().optional(),
  undecided: z.int().min(0).optional(),
});

export const reviewTasks = defineResource({
  type: 'review_tasks',
  noun: 'review_task',
  commandNoun: 'review',
  prefix: 'rvt',
  attributes: z.strictObject({
    /** The waiting operation. */
    operation_id: z.string(),
    command_type: z.string(),
    /** The command's subject at the version for which it was requested; version 0 when the command creates it. */
    subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int().min(0) }),
    /** The request; the approved command is executed with it. */
    request: z.strictObject({
      changes: z.unknown(),
      reason: z.unknown().optional(),
      payload_digest: z.string(),
      client_id: z.string(),
    }),
    /** What the command's rule found when it was requested; the approved command runs only if it finds nothing worse. */
    shown: z.union([overbooking, closing]).optional(),
    /** The account that requested the command; it cannot review. */
    requested_by: z.string(),
    /** dual: two people must approve. */
    mode: z.enum(['single', 'dual']),
    /** The mode before it was reduced to the people that there are; absent in reviews of before. */
    declared_mode: z.enum(['single', 'dual', 'policy', 'host']).optional(),
    /** Each of these roles may decide. */
    required_roles: z.array(z.enum(roles)),
    /** The first approval needs one of these roles, the further one of `required_roles`; absent: `required_roles` are for each. */
    first_approval_roles: z.array(z.enum(roles)).optional(),
    /** The podcast whose publishers decide; absent: people with a role in the whole workspace do. */
    podcast_id: reference('pod').optional(),
    /** The review policies that demanded it; absent where none did. */
    policy_versions: z.array(z.strictObject({ id: reference('pol'), version: z.int().min(1) })).optional(),
    /** The requester's earlier review that this one takes the place of. */
    corrects: reference('rvt').optional(),
    due_at: instant,
    decisions: z.array(decision),
  }),
  states: ['open', 'changes_requested', 'approved', 'declined', 'expired', 'withdrawn'],
  terminalStates: ['approved', 'declined', 'expired', 'withdrawn'],
  links: { podcast: { attribute: 'podcast_id', type: 'podcasts' } },
  uniqueAttributes: [],
  sortKeys: { due_at: { stable: false, at: ['due_at'] } },
});

const reviewers = ['reviewer', 'publisher', 'finance', 'admin'] as const;
const undecided = ['open', 'changes_requested'] as const;

export const reviewCommands = {
  'review.approve': defineCommand({
    type: 'review.approve',
    subject: 'review_tasks',
    from: undecided,
    to: ['open', 'changes_requested', 'approved'],
    changes: z.strictObject({ note: note.optional() }),
    roles: reviewers,
    whileSuspended: 'accepted',
    event: 'review.approved',
    hasRule: true,
    problems: ['permission_denied'],
    externalEffect: 'The command that waited is carried out.',
    summary: 'Approves a command that another person requested; in dual mode the second approval counts.',
  }),
  'review.decline': defineCommand({
    type: 'review.decline',
    subject: 'review_tasks',
    from: undecided,
    to: 'declined',
    changes: z.strictObject({ note }),
    roles: reviewers,
    whileSuspended: 'accepted',
    event: 'review.declined',
    hasRule: true,
    problems: ['permission_denied'],
    summary: 'Declines a command; its operation fails.',
  }),
  'review.request_changes': defineCommand({
    type: 'review.request_changes',
    subject: 'review_tasks',
    from: ['open'],
    to: 'changes_requested',
    changes: z.strictObject({ note }),
    roles: reviewers,
    whileSuspended: 'accepted',
    event: 'review.changes_requested',
    hasRule: true,
    problems: ['permission_denied'],
    summary:
      'Asks for a different command: the requester withdraws this one, or sends another whose reason names this review.',
  }),
  'review.withdraw': defineCommand({
    type: 'review.withdraw',
    subject: 'review_tasks',
    from: undecided,
    to: 'withdrawn',
    changes: z.strictObject({}),
    roles: ['trafficker', 'sales', ...reviewers],
    whileSuspended: 'accepted',
    event: 'review.withdrawn',
    hasRule: true,
    problems: ['permission_denied'],
    summary: 'Withdraws your own request; its operation is cancelled.',
  }),
  'review.expire': defineCommand({
    type: 'review.expire',
    subject: 'review_tasks',
    from: undecided,
    to: 'expired',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'review.expired',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'The review expired without a decision; the operation fails.',
  }),
} as const;
