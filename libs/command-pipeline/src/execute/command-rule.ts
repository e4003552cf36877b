import type { Catalog, CommandType, CommandWithRule } from '@longwave/command-catalog';
import type { Transaction } from '@longwave/postgres';
import type { z } from 'zod';
import type { Actor } from './command-request.ts';
import type { ProviderOutcome } from '../store/operation.ts';
import type { DecisionBasis, PolicyVersion } from '../store/receipt.ts';
import type { ResourceRow, StoredAttributes } from '../store/resource-row.ts';

/** Input of a rule before the transaction. */
interface PrepareInput<A, C> {
  readonly workspaceId: string;
  readonly subjectId: string;
  /** Undefined for creates, and when there is no such subject. */
  readonly current: Readonly<A> | undefined;
  readonly state: string | undefined;
  readonly actor: Actor;
  readonly changes: C;
  readonly deadline: Date | undefined;
}

/** Input of a rule inside the transaction, with the subject's row locked. */
export interface RuleInput<A, C, R = unknown> {
  readonly tx: Transaction;
  readonly workspaceId: string;
  readonly subjectId: string;
  readonly current: Readonly<A>;
  readonly state: string;
  readonly actor: Actor;
  readonly changes: C;
  readonly reason: R;
  /** What the reviewers of this command approved beside its changes (`Decision.shown`); absent unless they were shown something. */
  readonly approved?: unknown;
  readonly now: Date;
  /** Of an approved command: the version of the subject that the reviewers saw. */
  readonly reviewedVersion?: number | undefined;
}

/** Another resource that changes with the subject, in the same transaction (docs/adr/0020). */
export interface Consequence<T extends string = string> {
  readonly subject: { readonly type: T; readonly id: string };
  /**
   * Called with the locked row after the subject's own version is saved; undefined leaves the row as it is. The definition's
   * `consequences` must list the event. A method, so that consequences of different types form one list.
   */
  decide(
    current: ResourceRow<T>,
    tx: Transaction,
  ): ConsequenceDecision<T> | undefined | Promise<ConsequenceDecision<T> | undefined>;
}

interface ConsequenceDecision<T extends string = string> {
  readonly attributes: Readonly<StoredAttributes<T>>;
  readonly state: ResourceRow<T>['lifecycle_state'];
  /** Type of the event about the change. */
  readonly event: string;
}

export interface Decision<A> {
  readonly attributes: A;
  /** Required when the catalog declares several target states. */
  readonly state?: string;
  /** Writes further rows of the same owner, in the same transaction, after the revision. */
  readonly also?: (tx: Transaction, saved: { readonly operationId: string; readonly version: number }) => Promise<void>;
  /** The policies in force that the decision obeyed; the receipt names them. */
  readonly policyVersions?: readonly PolicyVersion[];
  /** What else decided, named in the receipt: a product, a rate card, the capability of a surface. */
  readonly decidedBy?: readonly DecisionBasis[];
  /** What a provider outside has said of the work; the running operations of the subject show it. */
  readonly provider?: ProviderOutcome;
  /**
   * What reviewers approve beside the changes: findings that may be others when the approved command runs. The review task keeps them as
   * they were when the command was requested, and the rule gets them back as `approved`.
   */
  readonly shown?: Readonly<Record<string, unknown>>;
  /** Other resources that change with the subject. */
  readonly consequences?: readonly Consequence[];
}

/** Loads what the decision needs and calls a pure function. Throws a declared `Problem` to refuse. */
export type Rule<A, C, R = unknown> = (input: RuleInput<A, C, R>) => Decision<A> | Promise<Decision<A>>;

/** A rule that needs another service first (a probe, the object store), outside the transaction. */
export interface PreparedRule<A, C, R = unknown> {
  readonly prepare: (input: PrepareInput<A, C>) => Promise<Rule<A, C, R>>;
}

export type CommandRule<A, C, R = unknown> = Rule<A, C, R> | PreparedRule<A, C, R>;

/** Attributes of the command's subject. */
type SubjectAttributes<
  K extends Catalog,
  C extends CommandType<K>,
> = K['commands'][C]['subject'] extends keyof K['resources']
  ? z.output<K['resources'][K['commands'][C]['subject']]['attributes']>
  : never;

/** The command's reason, where it declares a schema for it. */
type Reason<D> = D extends { readonly reason: infer S extends z.ZodType } ? z.output<S> : unknown;

/** A rule for every command of a catalog that has one: a missing or misspelt one is a compile error. */
export type Rules<K extends Catalog> = {
  readonly [C in CommandWithRule<K>]: CommandRule<
    SubjectAttributes<K, C>,
    z.output<K['commands'][C]['changes']>,
    Reason<K['commands'][C]>
  >;
};
