import type { CommandDefinition } from '@longwave/command-catalog';
import type { ReviewVerdict } from '@longwave/command-pipeline';
import type { Role } from '@longwave/principal';
import { peopleWith, type RoleHolder } from '../people/role-holder.ts';

/** The review that a command needs, before it is reduced to the people that there are. */
export interface RequiredReview {
  readonly declared: ReviewVerdict['declared'];
  /** Approvals by other people. */
  readonly mode: ReviewVerdict['applied'];
  readonly roles: readonly Role[];
}

/**
 * The review of a command by the built-in policy: `single` and `dual` as declared, `host` one publisher of the podcast, `policy` none.
 * Throws for a command whose definition declares no review.
 */
export function requiredReview({ type, review, reviewers = [] }: CommandDefinition): RequiredReview {
  switch (review) {
    case 'single':
    case 'dual':
      return { declared: review, mode: review, roles: reviewers };
    case 'host':
      return { declared: review, mode: 'single', roles: ['publisher'] };
    case 'policy':
      return { declared: review, mode: 'none', roles: reviewers };
    case 'none':
      throw new Error(`${type} declares no review`);
  }
}

/** A review, reduced to the people that there are. */
type AppliedReview = Pick<ReviewVerdict, 'applied' | 'requiredRoles' | 'firstApprovalRoles' | 'podcastId'>;

/** A review, and the same reduced to the people that there are. */
interface ReducedReview {
  readonly required: RequiredReview;
  readonly reduced: AppliedReview;
}

/**
 * A review as the other people of the workspace can carry it out.
 * @param podcastId the podcast that a role must cover; undefined: only roles in the whole workspace count
 * @param people.holders undefined while the people of the workspace are not known
 * @param people.except people who may not decide
 */
export function reviewAmong(
  required: RequiredReview,
  podcastId: string | undefined,
  { holders, except }: { readonly holders: readonly RoleHolder[] | undefined; readonly except: readonly string[] },
): ReducedReview {
  const others = holders && peopleWith(holders, { roles: required.roles, podcastId, except }).size;
  return { required, reduced: { applied: appliedMode(required, others), requiredRoles: required.roles, podcastId } };
}

const strictness = { none: 0, single: 1, dual: 2 } as const;

/**
 * The stricter one of the built-in review and what policies demand, both as they apply. Of equal ones the policy's, when it asked for more
 * people: its reviewers decide, though there are fewer of them. A host review that applies is never replaced: its publishers give the first
 * approval, and the roles of the policies the further ones.
 */
export function stricterReview(builtIn: ReducedReview, demanded: ReducedReview | undefined): AppliedReview {
  if (!demanded) return builtIn.reduced;
  const isHosts = builtIn.required.declared === 'host' && builtIn.reduced.applied !== 'none';
  const more = strictness[demanded.reduced.applied] - strictness[builtIn.reduced.applied];
  const asksForMore = strictness[demanded.required.mode] > strictness[builtIn.required.mode];
  if (more < 0 || (more === 0 && (isHosts || !asksForMore))) return builtIn.reduced;
  if (!isHosts) return demanded.reduced;
  return {
    ...demanded.reduced,
    firstApprovalRoles: builtIn.reduced.requiredRoles,
    podcastId: builtIn.reduced.podcastId,
  };
}

/**
 * The mode that applies with so many eligible other people: dual becomes single with one, and every mode none with nobody.
 * @param others undefined while the people of the workspace are not known: a declared `single` or `dual` holds in full, and `host` is none
 */
export function appliedMode({ declared, mode }: RequiredReview, others: number | undefined): ReviewVerdict['applied'] {
  if (others === undefined) return declared === 'host' ? 'none' : mode;
  if (mode === 'none' || others === 0) return 'none';
  return mode === 'dual' && others >= 2 ? 'dual' : 'single';
}
