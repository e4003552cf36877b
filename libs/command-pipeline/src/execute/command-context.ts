import type { Catalog, CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import type { Transaction } from '@longwave/postgres';
import type { RevisionChange } from '../store/change-table.ts';
import type { IdempotencyScope } from '../store/idempotency-table.ts';
import type { DecisionBasis, PolicyVersion, SignReceipt } from '../store/receipt.ts';
import type { ResourceRow } from '../store/resource-row.ts';
import type { AppliedConsequence } from './apply-consequences.ts';
import type { ParsedRequest } from './check-request.ts';
import type { Actor, CommandRequest } from './command-request.ts';
import type { CommandRule, Rule } from './command-rule.ts';
import type { DecideReview } from './decide-review.ts';

export type AnyAttributes = Record<string, unknown>;
export type AnyRule = CommandRule<AnyAttributes, AnyAttributes>;

/** A parsed command with what the catalog says about it. */
export interface CommandContext {
  readonly definition: CommandDefinition;
  readonly resource: ResourceDefinition;
  /** Every type of the catalog: a command may change other resources with its subject. */
  readonly resources: Catalog['resources'];
  readonly request: CommandRequest;
  readonly parsed: ParsedRequest;
  readonly actor: Actor;
  readonly scope: IdempotencyScope;
  readonly subjectId: string;
  /** What the command's reviewers were shown; absent for one that is not carried out by a review. */
  readonly approved?: unknown;
  /** Of an approved command: the version of the subject that the reviewers saw. */
  readonly reviewedVersion?: number;
  readonly rule: Rule<AnyAttributes, AnyAttributes>;
}

/** The saved effect of a command: the subject's revision and the resources that changed with it. */
export interface Applied {
  /** The subject; undefined when it waits to be created. */
  readonly row: ResourceRow | undefined;
  readonly consequences: readonly AppliedConsequence[];
  /** Every revision that was saved. */
  readonly changes: readonly RevisionChange[];
  /** The policies that the rule obeyed. */
  readonly policyVersions: readonly PolicyVersion[];
  /** What else it decided by. */
  readonly decidedBy?: readonly DecisionBasis[];
}

/** What accepting commands needs beside the command. */
export interface AcceptDeps {
  readonly now: Date;
  readonly signReceipt: SignReceipt;
  readonly reviewTasks: ResourceDefinition | undefined;
  readonly decideReview: DecideReview | undefined;
  readonly checkWorkspace: CheckWorkspace | undefined;
}

/**
 * Throws `permission_denied` when the person who requested a reviewed command may no longer send it. The pipeline calls it when the command
 * is approved: the request was checked by the statement about its sender, which is gone by then.
 */
export type CheckRequester = (
  tx: Transaction,
  command: {
    readonly definition: CommandDefinition;
    readonly workspaceId: string;
    /** Null for a new resource. */
    readonly subjectId: string | null;
    readonly changes: unknown;
    /** As `actorId` names the sender. */
    readonly requestedBy: string;
    readonly now: Date;
  },
) => Promise<void>;

/** Throws the problem for which a workspace takes no such command now. */
export type CheckWorkspace = (tx: Transaction, context: Omit<CommandContext, 'rule'>) => Promise<void>;
