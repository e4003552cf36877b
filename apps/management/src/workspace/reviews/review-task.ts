import type { Attributes } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';

export type ReviewTask = Attributes<'review_tasks'>;
type Decision = ReviewTask['decisions'][number];

/** A person with its roles, or an operator, who has all roles. */
export interface Reviewer {
  readonly by: string;
  /** The account through which the person acts: requests of the time before users name it. */
  readonly accountId?: string;
  readonly roles: readonly string[] | 'all';
}

const peopleNeeded = { single: 1, dual: 2 } as const;
const denied = (detail: string) => new Problem('permission_denied', detail);

/**
 * The task with one more decision. Throws `permission_denied` for the requester of the command, for a reviewer without the required roles,
 * for a first approval without a role of the first approval, and for a second approval of the same person; `state_not_allowed` after the
 * task's time.
 */
export function decided(
  task: Readonly<ReviewTask>,
  { by, accountId, roles }: Reviewer,
  {
    verdict,
    note,
    at,
  }: { readonly verdict: Decision['verdict']; readonly note?: string | undefined; readonly at: Date },
): ReviewTask {
  if (Date.parse(task.due_at) <= at.getTime())
    throw new Problem('state_not_allowed', 'The review period has ended. Send the command again.');
  if ([by, accountId].includes(task.requested_by)) throw denied('You cannot review a command that you requested.');
  const needed = rolesFor(task, verdict);
  if (roles !== 'all' && !needed.some((role) => roles.includes(role)))
    throw denied(`This review now needs one of the roles ${needed.join(', ')}.`);
  if (verdict === 'approve' && approvals(task).includes(by)) throw denied('You have approved this already.');
  return {
    ...task,
    decisions: [...task.decisions, { verdict, by, at: at.toISOString(), ...(note !== undefined && { note }) }],
  };
}

/** The roles of which the next decision needs one: an approval the next step's, another verdict that of any step. */
function rolesFor(task: Readonly<ReviewTask>, verdict: Decision['verdict']): ReviewTask['required_roles'] {
  if (verdict !== 'approve') return rolesOfReview(task);
  const { required_roles: required, first_approval_roles: first = required } = task;
  return approvals(task).length === 0 ? first : required;
}

/** The roles that may decide about a review, at any step. */
export const rolesOfReview = ({
  required_roles: required,
  first_approval_roles: first = [],
}: Readonly<Pick<ReviewTask, 'required_roles' | 'first_approval_roles'>>): ReviewTask['required_roles'] => [
  ...new Set([...first, ...required]),
];

const approvals = ({ decisions }: Readonly<ReviewTask>) =>
  decisions.filter(({ verdict }) => verdict === 'approve').map(({ by }) => by);

/** Whether as many people have approved as the task's mode asks. */
export const isApproved = (task: Readonly<ReviewTask>): boolean =>
  new Set(approvals(task)).size >= peopleNeeded[task.mode];
