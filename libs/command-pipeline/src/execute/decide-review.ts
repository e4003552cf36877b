import type { CommandDefinition } from '@longwave/command-catalog';
import type { Transaction } from '@longwave/postgres';
import type { ReviewVerdict } from '../review/review-verdict.ts';
import type { Actor } from './command-request.ts';

/** What a decision about the review of a command is made from. */
export interface ReviewQuestion {
  readonly definition: CommandDefinition;
  readonly workspaceId: string;
  readonly actor: Actor;
  /** The locked subject; undefined when the command creates it. */
  readonly subjectId: string | undefined;
  /** Attributes of the locked subject; undefined when the command creates it. */
  readonly current: Readonly<Record<string, unknown>> | undefined;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly now: Date;
}

/** Decides about the review of a command whose catalog entry declares one, inside its transaction. */
export type DecideReview = (tx: Transaction, question: ReviewQuestion) => Promise<ReviewVerdict>;
