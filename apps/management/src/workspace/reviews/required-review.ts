import type { CommandDefinition } from '@longwave/command-catalog';
import type { ReviewVerdict } from '@longwave/command-pipeline';
import type { Role } from '@longwave/principal';

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

const strictness = { none: 0, single: 1, dual: 2 } as const;

/** The stricter one of a review and what policies demand; of equal ones the review itself. */
export function stricterReview(
  required: RequiredReview,
  demand: { readonly mode: 'single' | 'dual'; readonly roles: readonly Role[] } | undefined,
): RequiredReview {
  if (!demand || strictness[demand.mode] <= strictness[required.mode]) return required;
  return { declared: demand.mode, mode: demand.mode, roles: demand.roles };
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
