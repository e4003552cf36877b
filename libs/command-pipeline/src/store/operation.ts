import { z } from 'zod';

/** Operation states (contract, Operation state). */
export type OperationState = 'accepted' | 'running' | 'waiting_review' | 'succeeded' | 'failed' | 'cancelled';

/** What a client does next without harm. */
export const nextAction = {
  accepted: 'poll',
  running: 'poll',
  waiting_review: 'await_review',
  succeeded: 'read_subject',
  failed: 'repair_and_reissue',
  cancelled: 'read_subject',
} as const satisfies Record<OperationState, string>;

/** Other resources that a command changed along with its subject. */
export const operationConsequences = z.array(
  z.strictObject({
    type: z.string(),
    id: z.string(),
    version: z.int(),
    /** Its lifecycle state since then. */
    state: z.string(),
    /** Type of the event that tells of it. */
    event: z.string(),
  }),
);
export type OperationConsequence = z.output<typeof operationConsequences>[number];

/** An operation as every surface shows it (design: commands.md §6). */
export interface OperationView {
  readonly id: string;
  readonly workspace_id: string;
  readonly command_type: string;
  readonly state: OperationState;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  /** What else changed in the same transaction; absent when nothing did. */
  readonly consequences?: readonly OperationConsequence[];
  readonly receipt_id: string;
  readonly problem?: { readonly code: string; readonly detail: string };
  /** The review that it waits for, or waited for. */
  readonly review_task_id?: string;
  readonly next_safe_action: (typeof nextAction)[OperationState];
  readonly created_at: string;
  readonly updated_at: string;
}
