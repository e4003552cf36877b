import type { ProblemCode } from '@longwave/problems';
import type { Role } from '@longwave/principal';
import type { CallerName, Deprecation } from '@longwave/services';
import type { z } from 'zod';

/** A key by which lists of a type may be sorted. */
export interface SortKey {
  /**
   * Whether a resource keeps its place for ever. A list that is sorted by a stable key skips and repeats nothing while others write; by any
   * other key a resource that changes between two pages may be missing or come twice.
   */
  readonly stable: boolean;
}

/** A sort key of one type: the time in one of its attributes. Resources without the attribute come last. */
export interface TimeSortKey extends SortKey {
  /** Path of the attribute, which holds a time in RFC 3339. Management has an index for it. */
  readonly at: readonly string[];
}

/** A kind of versioned resource: its attributes, its life, and what ties it to others. */
export interface ResourceDefinition {
  /** Plural snake case, as in paths: "podcasts". */
  readonly type: string;
  /** The singular, "podcast": in messages and, without a `commandNoun`, before the dot in commands and events. */
  readonly noun: string;
  /** The word before the dot where it is not the noun: `serving.halt` creates a serving halt. */
  readonly commandNoun?: string;
  /** Id prefix: "pod". */
  readonly prefix: string;
  /** Closed schema of the stored attributes; `state_reason` holds the cause that led to the present state. */
  readonly attributes: z.ZodObject;
  /** Lifecycle states, the initial one first. */
  readonly states: readonly string[];
  readonly terminalStates: readonly string[];
  /** Link name → the attribute that holds the other resource's id, and its type. Both sides live in one workspace. */
  readonly links: Readonly<Record<string, { readonly attribute: string; readonly type: string }>>;
  /**
   * Roles that read it: its versions, its changes, operations on it, and what commands on it that wait for a review would change. To
   * everybody else it looks as if there were none. Only of a type that belongs to no podcast. Absent: all who see its place.
   */
  readonly readers?: readonly Role[];
  /** Attributes whose value no two living resources of this type may share, in the whole service. */
  readonly uniqueAttributes: readonly string[];
  /** Sort keys of this type's lists, beside those of every type (`sortKeysOf`). */
  readonly sortKeys?: Readonly<Record<string, TimeSortKey>>;
  /** The version of the Management API that first had it; absent: 1.0.0. */
  readonly since?: string;
  readonly deprecated?: Omit<Deprecation, 'operation'>;
}

/** A declared command: everything that a client can know before it sends one. */
export interface CommandDefinition {
  /** `noun.verb`. */
  readonly type: string;
  readonly subject: string;
  /** States from which it may start; null when it creates its subject. */
  readonly from: readonly string[] | null;
  /** The next state; null when the state stays; several when its rule chooses. */
  readonly to: string | readonly string[] | null;
  /** Closed schema of the proposed changes. */
  readonly changes: z.ZodObject;
  /** Schema of `reason`; commands without one take words or a correction (`reasonSchemaOf`). */
  readonly reason?: z.ZodType;
  /** Roles that may send it; empty for machine commands, and for those of a party alone. */
  readonly roles: readonly Role[];
  /** The person whom the subject names may send it as well, whatever its roles: `grantee`. */
  readonly party?: 'grantee';
  /**
   * Whether a suspended workspace takes it. Without this, commands of people and of the operator are refused, and those of other services
   * are accepted: what has begun comes to its end.
   */
  readonly whileSuspended?: 'accepted' | 'refused';
  /** Who may send it in a closed workspace, beside services that come to an end with what has begun; absent: nobody. */
  readonly whileClosed?: 'operator';
  /** Services that may send it as themselves ("management": its clock and followers). */
  readonly machines: readonly CallerName[];
  /** sync: the first answer is final. async: the client polls the operation. */
  readonly mode: 'sync' | 'async';
  /** Ends the running operations of the subject in this state: the command reports a result, or stops the work. */
  readonly settles?: 'succeeded' | 'failed' | 'cancelled';
  /** Only operations of these commands, where a subject may have several running. */
  readonly settlesOf?: readonly string[];
  /** The command by which `operation.cancel` ends its work; absent: the work cannot be cancelled. It needs no changes but a cause. */
  readonly endedBy?: string;
  /** The field of its changes that names what the ended work made, where that is not the subject. */
  readonly result?: { readonly type: string; readonly field: string };
  /**
   * Approvals by other people that a person's command needs: `single` one, `dual` two, `host` one by who publishes the podcast; `policy`
   * as many as the workspace's review policy says, and none without one. Fewer where there are fewer people (docs/adr/0040).
   */
  readonly review: 'none' | 'policy' | 'host' | 'single' | 'dual';
  /** Roles that may approve a `single` or `dual` review. */
  readonly reviewers?: readonly Role[];
  /** `required`: the caller must state the version that it saw. */
  readonly versionGuard: 'required' | 'optional';
  /**
   * The command changes a part of its subject. Other parts may change while it waits for a review: its rule compares the part with what the
   * reviewers saw, by `reviewedVersion` (docs/adr/0094).
   */
  readonly changesPart?: true;
  /** Problems that its rule may throw, beside those of the pipeline. */
  readonly problems: readonly ProblemCode[];
  /** The one event that it appends. */
  readonly event: string;
  /** Events of other resources that it may change in the same transaction. */
  readonly consequences?: readonly string[];
  /** The effect outside the store, for documents and agents. */
  readonly externalEffect: string | null;
  readonly summary: string;
  /** The version of the Management API that first had it; absent: 1.0.0. */
  readonly since?: string;
  readonly deprecated?: Omit<Deprecation, 'operation'>;
  /** What the answer to the command shows besides the operation, such as a secret: it is stored nowhere, and no read shows it. */
  readonly discloses?: z.ZodObject;
  /** Whether the command has a rule of its own; a missing rule is a compile error. */
  readonly hasRule: boolean;
}

/** Keeps the literal types of a resource definition. */
export const defineResource = <const R extends ResourceDefinition>(definition: R): R => definition;

type Defaults = {
  from: null;
  to: null;
  roles: readonly [];
  machines: readonly [];
  mode: 'sync';
  review: 'none';
  versionGuard: 'optional';
  problems: readonly [];
  externalEffect: null;
  hasRule: false;
};
type Needed = Omit<CommandDefinition, keyof Defaults>;

const defaults: Defaults = {
  from: null,
  to: null,
  roles: [],
  machines: [],
  mode: 'sync',
  review: 'none',
  versionGuard: 'optional',
  problems: [],
  externalEffect: null,
  hasRule: false,
};

/** Fills in the defaults of a command; keeps literal types. */
export const defineCommand = <const C extends Needed & Partial<CommandDefinition>>(
  definition: C,
): Omit<Defaults, keyof C> & C => ({ ...defaults, ...definition });
