import type { ForecastJobInput, PlanLineItem } from '@longwave/events';
import type { TimeRange } from '@longwave/forecasting';
import type { ForecasterConfig } from '../config.ts';
import type { WorkspaceBacktest } from './backtest-workspace.ts';
import type { CheckedAvailability } from './check-availability.ts';
import type { ExplainedLine } from './explain-line.ts';
import type { FoundRisks } from './find-risks.ts';
import type { ForecastResult } from './make-forecast.ts';
import type { MadePlans } from './make-pacing-plans.ts';

/** What a thread is asked; structured clones cross the border. */
export type Question =
  | {
      readonly type: 'forecast';
      readonly workspaceId: string;
      readonly input: ForecastJobInput;
      readonly deadlineMs: number;
    }
  | {
      readonly type: 'availability';
      readonly workspaceId: string;
      readonly line: PlanLineItem;
      readonly deadlineMs: number;
    }
  | {
      readonly type: 'fit';
      readonly workspaceId: string;
      readonly line: PlanLineItem;
      readonly fromMs: number;
      readonly toMs: number;
      readonly deadlineMs: number;
    }
  /** Makes a part of what the next question of a workspace would make first. */
  | {
      readonly type: 'ahead';
      readonly workspaceId: string;
      /** Flights about which somebody may ask; absent: those that were asked about. */
      readonly flights?: readonly TimeRange[];
      readonly deadlineMs: number;
    }
  /** Reads what a question of a workspace would read first, unless it has no room beside what others have asked about. */
  | { readonly type: 'read'; readonly workspaceId: string; readonly deadlineMs: number }
  | { readonly type: 'plans'; readonly workspaceId: string; readonly deadlineMs: number }
  | {
      readonly type: 'risks';
      readonly workspaceId: string;
      /** Line items with a goal of whose traffic enough is known. */
      readonly lineItemIds: readonly string[];
      readonly deadlineMs: number;
    }
  | { readonly type: 'backtest'; readonly workspaceId: string; readonly weeks: number; readonly deadlineMs: number };

/** The answer to each type of question. */
export interface Answers {
  readonly forecast: ForecastResult;
  readonly availability: CheckedAvailability;
  readonly fit: ExplainedLine;
  /** Whether anything was to be made, and the milliseconds of the processor that it took. */
  readonly ahead: { readonly isMade: boolean; readonly processorMs: number };
  /** Whether it is kept. */
  readonly read: boolean;
  readonly plans: MadePlans;
  readonly risks: FoundRisks;
  readonly backtest: WorkspaceBacktest;
}

export type AnswerTo<Q extends Question> = Answers[Q['type']];

/** Questions that somebody waits for. */
export type ShortQuestion = Extract<Question, { type: 'availability' | 'fit' }>;

/** What is sent to a thread: a question under a number, or that nobody waits for its answer any more. */
export type Request =
  { readonly id: number; readonly question: Question } | { readonly id: number; readonly abandoned: true };

/** What a thread says of a question: its inputs are read and the computing begins; or its end. */
export type Reply = { readonly id: number } & (
  | { readonly end: 'begun' }
  | { readonly end: 'answered'; readonly answer: Answers[keyof Answers] }
  | { readonly end: 'failed'; readonly message: string }
);

/** What a thread is started with. */
export type ThreadData = Pick<
  ForecasterConfig,
  'TLS_CA' | 'TLS_CERT' | 'TLS_KEY' | 'MANAGEMENT_ADDRESS' | 'INTERNAL_SERVING_ADDRESS' | 'FORECASTER_PLAYS_MAX'
>;
