import type { BreakPosition } from './plan-index.ts';

/** One place for ads in a play. */
export interface AdBreak {
  /** Unique in the play. */
  readonly key: string;
  readonly position: BreakPosition;
  readonly maxSlots: number;
  readonly maxDurationMs: number;
}

/** Everything of a play that a decision reads. */
export interface DecisionContext {
  /** Names the play and seeds every choice between equals. */
  readonly decisionId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  /** ISO 3166-1 alpha-2, or "" when unknown. */
  readonly country: string;
  /** For example "mp3/128000/48000/2". */
  readonly streamFormat: string;
  /** The play's time; windows are tested against it. */
  readonly atMs: number;
  readonly breaks: readonly AdBreak[];
}

/**
 * Whether a line item may take one more slot.
 * @param ordinal of `PlanIndex.lines`
 * @param taken slots that it already took in this decision
 */
export type MayServe = (ordinal: number, taken: number) => boolean;
