import type { Role } from '@longwave/principal';
import type { ShownReview } from '../store/operation.ts';
import type { PolicyVersion } from '../store/receipt.ts';

/** The review of one command: what is declared for it, and what applies among the people that there are. */
export interface ReviewVerdict extends ShownReview {
  /** One of these roles is needed to decide. */
  readonly requiredRoles: readonly Role[];
  /** One of these roles is needed for the first approval; absent: one of `requiredRoles`. */
  readonly firstApprovalRoles?: readonly Role[] | undefined;
  /** The podcast whose role holders decide; absent: those of the whole workspace. */
  readonly podcastId?: string | undefined;
  /** Hours that reviewers have; absent: a week. */
  readonly dueHours?: number | undefined;
  /** Versions of the policies that decided the mode, for the receipt. */
  readonly policyVersions?: readonly PolicyVersion[];
}
