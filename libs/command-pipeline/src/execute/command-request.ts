import { decideAccess, type AccessDecision, type AccessNeed, type Principal } from '@longwave/principal';
import type { ResourceView } from '@longwave/events';
import type { Problem } from '@longwave/problems';
import type { CallerName } from '@longwave/services';
import type { SystemProcess } from '../store/operation.ts';
import type { ResourceRow } from '../store/resource-row.ts';

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
  /** The time at which the caller stops waiting; after it nothing begins. */
  readonly deadline?: Date;
  /** Why the place where the command acts takes no more commands: thrown for a new key, while a used key gets its first answer. */
  readonly refusal?: Problem;
}

/** The sender of a command: a person through a credential, or a service as itself. */
export type Actor =
  | {
      readonly kind: 'principal';
      readonly principal: Principal;
      /** The podcast that the command's subject belongs to, or is; absent for one that belongs to none. */
      readonly podcastId?: string | undefined;
      /** Whether the subject names this person: commands with a `party` are open to it, whatever its roles. */
      readonly isParty?: boolean;
    }
  | {
      readonly kind: 'service';
      readonly name: CallerName;
      /** The client and the person who asked the service for it: keys, receipts and operations are theirs. */
      readonly onBehalfOf?: { readonly clientId: string; readonly personId: string } | undefined;
      /** The part of the service that sends by itself; absent for its workers, and for another service. */
      readonly process?: SystemProcess | undefined;
      /** The person whose reviewed command the service carries out. */
      readonly requestedBy?: string | undefined;
    };

/** Decides a person's access where its command acts, for the pipeline and for the rules of commands. */
export const accessOf = (
  { principal, podcastId }: Extract<Actor, { kind: 'principal' }>,
  workspaceId: string,
  need?: AccessNeed,
): AccessDecision => decideAccess(principal, { workspaceId, podcastId }, need);

/** The authenticated client: the client part of an idempotency key's scope. */
export const clientIdOf = (actor: Actor): string =>
  actor.kind === 'principal'
    ? (actor.principal.client_id ?? actor.principal.credential_id)
    : (actor.onBehalfOf?.clientId ?? `service:${actor.name}`);

/** The person, service or process of a service that acts: all credentials of an account's owner are one person, and so is an account without an owner. */
export const actorId = (actor: Actor): string =>
  actor.kind === 'principal'
    ? (actor.principal.user_id ?? actor.principal.account_id)
    : (actor.onBehalfOf?.personId ?? actor.process ?? clientIdOf(actor));

export interface CommandOutcome {
  /** JSON of the operation as first answered; a replay repeats it byte for byte. */
  readonly operationJson: string;
  /** The subject as it is now; undefined while a new one waits for its review. */
  readonly resource: ResourceView | undefined;
  /** 200 when the operation was terminal at once, else 202. */
  readonly status: number;
  readonly replayed: boolean;
  /** What only this answer shows, by the `discloses` of the definition; it is stored nowhere. */
  readonly disclosed?: Readonly<Record<string, string>>;
}

/** The subject of a command that did not wait for a review. Throws when a new resource waits for its own. */
export function subjectOf({ resource, operationJson }: CommandOutcome): ResourceView {
  if (!resource) throw new Error(`there is no subject yet: ${operationJson}`);
  return resource;
}

/**
 * Executes one command: commits all of its changes, or none. Throws a `Problem` when it is refused.
 * @param subject the subject's row, when the caller has just read it; a prepared rule starts from it, and the transaction reads it again
 *   under lock
 */
export type ExecuteCommand = (request: CommandRequest, actor: Actor, subject?: ResourceRow) => Promise<CommandOutcome>;
