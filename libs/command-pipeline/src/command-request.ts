import type { Principal, Role } from '@longwave/principal';
import type { ResourceView } from '@longwave/events';
import type { CallerName } from '@longwave/services';
import { z } from 'zod';

/** A command as a transport hands it over; `changes` and `reason` are still unparsed. */
export interface CommandRequest {
  readonly workspaceId: string;
  readonly commandType: string;
  readonly idempotencyKey: string;
  /** `<version>.<digest prefix>`, with or without quotes. */
  readonly ifMatch?: string | undefined;
  readonly subject: { readonly type: string; readonly id: string | null; readonly version?: number | undefined };
  readonly changes: unknown;
  readonly reason?: unknown;
  /** When the caller stops waiting: nothing is begun after it. */
  readonly deadline?: Date;
}

/** Who sends a command: a person through a credential, or a service as itself. */
export type Actor =
  | {
      readonly kind: 'principal';
      readonly principal: Principal;
      /** Roles where the command acts, when that is not the principal's own workspace; whoever sets them has checked its grants. */
      readonly roles?: readonly Role[];
    }
  | { readonly kind: 'service'; readonly name: CallerName };

/** The authenticated client: the client part of an idempotency key's scope (contract, Management API, rule 5). */
export const clientIdOf = (actor: Actor): string =>
  actor.kind === 'principal' ? (actor.principal.client_id ?? actor.principal.credential_id) : `service:${actor.name}`;

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

export interface CommandOutcome {
  /** JSON of the operation as first answered; a replay repeats it byte for byte. */
  readonly operationJson: string;
  /** The subject as it is now. */
  readonly resource: ResourceView;
  /** 200 when the operation was terminal at once, else 202. */
  readonly status: number;
  readonly replayed: boolean;
}

/** Executes one command; everything it changes is committed, or nothing. Throws a `Problem` when it is refused. */
export type ExecuteCommand = (request: CommandRequest, actor: Actor) => Promise<CommandOutcome>;
