import type { OperationConsequence } from '@longwave/events';

export type OperationState = 'accepted' | 'running' | 'waiting_review' | 'succeeded' | 'failed' | 'cancelled';

/** The next action that is safe for a client, by state. */
export const nextAction = {
  accepted: 'poll',
  running: 'poll',
  waiting_review: 'await_review',
  succeeded: 'read_subject',
  failed: 'repair_and_reissue',
  cancelled: 'read_subject',
} as const satisfies Record<OperationState, string>;

/** An operation as every API shows it. */
export interface OperationView {
  readonly id: string;
  readonly workspace_id: string;
  readonly command_type: string;
  readonly state: OperationState;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  /** Absent when nothing else changed. */
  readonly consequences?: readonly OperationConsequence[];
  readonly receipt_id: string;
  readonly problem?: { readonly code: string; readonly detail: string };
  /** The review of its command, open or decided. */
  readonly review_task_id?: string;
  readonly next_safe_action: (typeof nextAction)[OperationState];
  readonly created_at: string;
  readonly updated_at: string;
}
