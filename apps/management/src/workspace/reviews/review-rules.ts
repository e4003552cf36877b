import type { productCatalog } from '@longwave/command-catalog';
import { accessOf, endWaiting, actorId, type Actor, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem, type ProblemCode } from '@longwave/problems';
import { partiesOf } from './parties.ts';
import { decided, isApproved, type Reviewer, type ReviewTask } from './review-task.ts';

type ReviewRules = Pick<
  Rules<typeof productCatalog>,
  'review.approve' | 'review.decline' | 'review.request_changes' | 'review.withdraw' | 'review.expire'
>;

type TaskInput = Pick<RuleInput<ReviewTask, unknown>, 'tx' | 'current' | 'actor' | 'workspaceId'>;

/** Throws `permission_denied` for a person whom the reviewed command is about. */
async function assertNoParty({ tx, current, actor, workspaceId }: TaskInput): Promise<void> {
  const { command_type: commandType, request, subject } = current;
  const { changes } = request;
  const parties = await partiesOf(tx, { workspaceId, commandType, subjectId: subject.id, changes });
  if (parties.includes(actorId(actor)))
    throw new Problem(
      'permission_denied',
      'You cannot review a command about your own authority or your own verdicts.',
    );
}

const reviewerOf = (actor: Actor, workspaceId: string): Reviewer =>
  actor.kind === 'principal'
    ? { by: actorId(actor), accountId: actor.principal.account_id, roles: accessOf(actor, workspaceId).roles }
    : { by: actorId(actor), roles: 'all' };

/** Ends the waiting operation together with the review. */
const ends =
  (
    task: ReviewTask,
    state: 'failed' | 'cancelled',
    now: Date,
    problem?: { readonly code: ProblemCode; readonly detail: string },
  ) =>
  (tx: Transaction) =>
    endWaiting(tx, task.operation_id, { state, now, ...(problem && { problem }) });

/** Rules of the review commands. `reactions.ts` executes an approved command. */
export const reviewRules: ReviewRules = {
  'review.approve': async (input) => {
    const { current, state, changes, actor, workspaceId, now } = input;
    const { note } = changes;
    await assertNoParty(input);
    const attributes = decided(current, reviewerOf(actor, workspaceId), { verdict: 'approve', note, at: now });
    return { attributes, state: isApproved(attributes) ? 'approved' : state };
  },

  'review.decline': async (input) => {
    const { current, changes, actor, workspaceId, now } = input;
    const { note } = changes;
    await assertNoParty(input);
    return {
      attributes: decided(current, reviewerOf(actor, workspaceId), { verdict: 'decline', note, at: now }),
      also: ends(current, 'failed', now, { code: 'review_declined', detail: note }),
    };
  },

  'review.request_changes': async (input) => {
    const { current, changes, actor, workspaceId, now } = input;
    const { note } = changes;
    await assertNoParty(input);
    return {
      attributes: decided(current, reviewerOf(actor, workspaceId), { verdict: 'request_changes', note, at: now }),
    };
  },

  'review.withdraw': ({ current, actor, now }) => {
    if (actorId(actor) !== current.requested_by)
      throw new Problem('permission_denied', 'Only the person who requested a command may withdraw it.');
    return { attributes: current, also: ends(current, 'cancelled', now) };
  },

  'review.expire': ({ current, now }) => {
    if (Date.parse(current.due_at) > now.getTime())
      throw new Problem('state_not_allowed', 'The review period has not ended yet.');
    const detail = 'The review was not decided in time. Send the command again if you still need it.';
    return { attributes: current, also: ends(current, 'failed', now, { code: 'review_expired', detail }) };
  },
};
