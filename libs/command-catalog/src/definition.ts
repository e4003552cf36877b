import type { ProblemCode } from '@longwave/problems';
import type { Role } from '@longwave/principal';
import type { CallerName } from '@longwave/services';
import type { z } from 'zod';

/** A kind of versioned resource: its attributes, its life, and what ties it to others. */
export interface ResourceDefinition {
  /** Plural snake case, as in paths: "podcasts". */
  readonly type: string;
  /** One of them, in words and, unless `commandNoun` says otherwise, before the dot in commands and events: "podcast". */
  readonly noun: string;
  /** The word before the dot where it is not the noun: serving.halt makes a serving halt. */
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
  /** Attributes whose value no two living resources of this type may share, in the whole service. */
  readonly uniqueAttributes: readonly string[];
}

/** A declared command: everything a client may know of it before it asks. */
export interface CommandDefinition {
  /** `noun.verb`. */
  readonly type: string;
  readonly subject: string;
  /** States it may start from; null when it creates its subject. */
  readonly from: readonly string[] | null;
  /** State it leads to; null when the state stays; several when its rule chooses. */
  readonly to: string | readonly string[] | null;
  /** Closed schema of the proposed changes. */
  readonly changes: z.ZodObject;
  /** Schema of `reason`; commands without one take an optional string. */
  readonly reason?: z.ZodType;
  /** Roles that may send it; empty for machine commands. */
  readonly roles: readonly Role[];
  /** Services that may send it as themselves ("management" for its own clock and followers). */
  readonly machines: readonly CallerName[];
  /** sync: terminal in the first answer. async: accepted, followed by polling the operation. */
  readonly mode: 'sync' | 'async';
  /** Finishes the running operation of the subject: a machine reporting back, or someone stopping it. */
  readonly settles?: 'succeeded' | 'failed' | 'cancelled';
  /** Only operations of these commands, where a subject may have several running. */
  readonly settlesOf?: readonly string[];
  /**
   * Whether somebody else must agree to what a person asks: `single` one, `dual` two; `policy` and `host` mean nobody until workspaces
   * have review policies.
   */
  readonly review: 'none' | 'policy' | 'host' | 'single' | 'dual';
  /** Roles that may agree, where a review is needed. */
  readonly reviewers?: readonly Role[];
  /** `required`: the caller must state the version it saw. */
  readonly versionGuard: 'required' | 'optional';
  /** Problems its own rule may raise, beyond those of the pipeline. */
  readonly problems: readonly ProblemCode[];
  /** The one event it appends. */
  readonly event: string;
  /** Events of other resources that it may change in the same transaction. */
  readonly consequences?: readonly string[];
  /** What happens outside the store, for docs and agents. */
  readonly externalEffect: string | null;
  readonly summary: string;
  /** True when the command has a rule of its own; its absence is a compile error. */
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

/** A command with the usual answers filled in; literal types are kept. */
export const defineCommand = <const C extends Needed & Partial<CommandDefinition>>(
  definition: C,
): Omit<Defaults, keyof C> & C => ({ ...defaults, ...definition });
