import type { AttributesOf, Catalog, ChangesOf, RuledCommandType } from '@longwave/command-catalog';
import type { Transaction } from '@longwave/postgres';
import type { Actor } from './command-request.ts';
import type { ResourceRow } from './resource-row.ts';

/** What a rule sees before the transaction. */
export interface PrepareInput<A, C> {
  readonly workspaceId: string;
  readonly subjectId: string;
  /** Undefined for creates, and when there is no such subject. */
  readonly current: Readonly<A> | undefined;
  readonly state: string | undefined;
  readonly actor: Actor;
  readonly changes: C;
  readonly deadline: Date | undefined;
}

/** What a rule sees inside the transaction, with the subject's row locked. */
export interface RuleInput<A, C> {
  readonly tx: Transaction;
  readonly workspaceId: string;
  readonly subjectId: string;
  readonly current: Readonly<A>;
  readonly state: string;
  readonly actor: Actor;
  readonly changes: C;
  readonly reason: unknown;
  readonly now: Date;
}

/** Something else that changes with the subject, in the same transaction (docs/adr/0020). */
export interface Consequence {
  readonly subject: { readonly type: string; readonly id: string };
  /**
   * Called with the locked row, once the subject's own version is saved; undefined leaves it as it is. The event must be one of the
   * definition's `consequences`.
   */
  readonly decide: (
    current: ResourceRow,
    tx: Transaction,
  ) => ConsequenceDecision | undefined | Promise<ConsequenceDecision | undefined>;
}

export interface ConsequenceDecision {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly state: string;
  /** Type of the event that tells of it. */
  readonly event: string;
}

export interface Decision<A> {
  readonly attributes: A;
  /** Needed when the catalog leaves a choice of states. */
  readonly state?: string;
  /** Further rows of the same owner, written in the same transaction once the revision is saved. */
  readonly also?: (tx: Transaction, saved: { readonly operationId: string; readonly version: number }) => Promise<void>;
  /** Other resources that change with it. */
  readonly consequences?: readonly Consequence[];
}

/** Loads what the decision needs and calls a pure function. Throws a declared `Problem` to refuse. */
export type Rule<A, C> = (input: RuleInput<A, C>) => Decision<A> | Promise<Decision<A>>;

/** A rule that must ask someone first (a probe, the object store): never inside the transaction. */
export interface PreparedRule<A, C> {
  readonly prepare: (input: PrepareInput<A, C>) => Promise<Rule<A, C>>;
}

export type CommandRule<A, C> = Rule<A, C> | PreparedRule<A, C>;

/** One rule for every ruled command of a catalog: a missing or misspelt one is a compile error. */
export type Rules<K extends Catalog> = {
  readonly [C in RuledCommandType<K>]: CommandRule<AttributesOf<K, C>, ChangesOf<K, C>>;
};
