import { commandName, nounName } from '../../commands/words.ts';

/** What pages show of a review. */
export interface Review {
  readonly command_type: string;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  readonly request: { readonly changes: unknown; readonly reason?: unknown };
  /** The person who asked, and cannot decide. */
  readonly requested_by: string;
  readonly mode: 'single' | 'dual';
  readonly required_roles: readonly string[];
  readonly due_at: string;
  readonly decisions: readonly { readonly verdict: string; readonly at: string; readonly note?: string }[];
}

/** What a review is called: the command and what it is about. */
export const reviewTitle = ({ command_type: type, subject }: Pick<Review, 'command_type' | 'subject'>): string =>
  `${commandName(type, subject.version === 0 ? subject.type : undefined)} (${nounName(subject.type)})`;

/** Whether a person may decide: nobody decides what they asked for, and others need a role that the review names. */
export const mayDecide = (
  { requested_by: asked, required_roles: needed }: Pick<Review, 'requested_by' | 'required_roles'>,
  person: string | undefined,
  roles: readonly string[],
): boolean => asked !== person && needed.some((role) => roles.includes(role));
