import type { CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import type { OperationConsequence } from '@longwave/events';

export const operationStates = ['accepted', 'running', 'waiting_review', 'succeeded', 'failed', 'cancelled'] as const;
export type OperationState = (typeof operationStates)[number];

/** The states that may follow each state. The three without successors are terminal: they never change. */
const successors: Readonly<Record<OperationState, readonly OperationState[]>> = {
  accepted: ['running', 'waiting_review', 'succeeded', 'failed', 'cancelled'],
  waiting_review: ['running', 'failed', 'cancelled'],
  running: ['waiting_review', 'succeeded', 'failed', 'cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

/** What decides whether running work may still be cancelled. */
export interface RunningWork {
  /** Some command of the catalog ends this work before it is done. */
  readonly isCancellable: boolean;
  /** A provider outside was asked: it may have acted already. */
  readonly isSentOutside: boolean;
}

/** Whether an operation may go from one state to another. Every change of a stored state is one of these. */
export const isTransition = (
  from: OperationState,
  to: OperationState,
  { isCancellable, isSentOutside }: RunningWork,
): boolean =>
  successors[from].includes(to) && (from !== 'running' || to !== 'cancelled' || (isCancellable && !isSentOutside));

/** What sends commands without being asked: the clock, when something is due, and the followers of events. */
export const systemProcesses = ['system:clock', 'system:follower'] as const;
export type SystemProcess = (typeof systemProcesses)[number];

/** The part of an operation that a provider outside the service has. */
export interface ProviderOutcome {
  /** The provider's own reference; null while it has given none. */
  readonly external_receipt: string | null;
  /** unknown: the provider may or may not have acted. conflicting: its statements contradict each other. */
  readonly ambiguity: 'none' | 'unknown' | 'conflicting';
}

export const nextSafeActions = [
  'poll',
  'await_review',
  'read_subject',
  'read_receipt',
  'repair_and_reissue',
  'reconcile_provider',
  'contact_support',
  'none',
] as const;
export type NextSafeAction = (typeof nextSafeActions)[number];

/** Seconds after which asking again is worth it, in the states that change by themselves. */
const retryAfterSeconds: Readonly<Partial<Record<OperationState, number>>> = {
  accepted: 2,
  running: 2,
  waiting_review: 60,
};

/** The review of a person's command, as operations and receipts show it. */
export interface ShownReview {
  /** The mode of the catalog. */
  readonly declared: Exclude<CommandDefinition['review'], 'none'>;
  /** Approvals by other people that the command waits for: none, one or two. */
  readonly applied: 'none' | 'single' | 'dual';
}

/** An operation as every API shows it. */
export interface OperationView {
  readonly id: string;
  readonly workspace_id: string;
  readonly command_type: string;
  readonly state: OperationState;
  /** Why it was cancelled. */
  readonly state_reason?: string;
  /** At its version when this is read; 0 while a new resource waits for its review. */
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  /** Absent when nothing else changed. */
  readonly consequences?: readonly OperationConsequence[];
  readonly receipt_id: string;
  /** What a succeeded operation made or changed, at the version that it made. */
  readonly result?: { readonly type: string; readonly id: string; readonly version?: number };
  readonly problem?: { readonly code: string; readonly detail: string };
  /** The declared and the applied review of a person's command; absent where its type declares none. */
  readonly review?: ShownReview;
  /** The review of its command, open or decided. */
  readonly review_task_id?: string;
  readonly provider?: ProviderOutcome;
  readonly next_safe_action: NextSafeAction;
  /** Absent in terminal states. */
  readonly retry_after_s?: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** What is stored of an operation. */
export type OperationFacts = Omit<OperationView, 'next_safe_action' | 'retry_after_s'>;

/** The next action that is safe for a client. */
export function nextSafeAction(
  { state, problem, provider }: Pick<OperationFacts, 'state' | 'problem' | 'provider'>,
  endsSubject: boolean,
): NextSafeAction {
  if (provider && provider.ambiguity !== 'none' && state !== 'succeeded') return 'reconcile_provider';
  switch (state) {
    case 'accepted':
    case 'running':
      return 'poll';
    case 'waiting_review':
      return 'await_review';
    case 'succeeded':
      return endsSubject ? 'read_receipt' : 'read_subject';
    case 'failed':
      return problem?.code === 'internal_error' ? 'contact_support' : 'repair_and_reissue';
    case 'cancelled':
      return 'none';
  }
}

/**
 * An operation with what a client does next. Of a subject that its command ended, the receipt is what is left to read.
 * @param definition undefined for a command that the catalog no longer has
 */
export function operationView(
  facts: OperationFacts,
  definition: CommandDefinition | undefined,
  resource: ResourceDefinition | undefined,
): OperationView {
  const { to = null } = definition ?? {};
  const endsSubject = typeof to === 'string' && (resource?.terminalStates.includes(to) ?? false);
  const { created_at, updated_at, result = facts.subject, ...rest } = facts;
  const { state } = facts;
  const retryAfter = retryAfterSeconds[state];
  return {
    ...rest,
    ...(state === 'succeeded' && { result }),
    next_safe_action: nextSafeAction(facts, endsSubject),
    ...(retryAfter !== undefined && { retry_after_s: retryAfter }),
    created_at,
    updated_at,
  };
}
