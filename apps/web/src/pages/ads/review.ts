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
