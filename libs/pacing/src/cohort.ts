/** What a line item counts towards its goal (docs/counting.md). */
export type CountingBasis = 'reserved' | 'served_bytes' | 'ad_delivered' | 'client_event';

/** How long a play of this kind may go on after its decision. */
export type SurfaceClass = 'stream' | 'download';

/** Servings of a cohort by what became of them; each is counted once in each number. */
export interface CohortCounts {
  readonly decided: number;
  /** All bytes were written. */
  readonly served: number;
  /** Delivered in a counted download. */
  readonly delivered: number;
  /** Delivered, but only in downloads that are held until a person decides. */
  readonly held: number;
  readonly clientStarted: number;
  readonly clientCompleted: number;
}

/** Servings of one line item and surface class that were decided in one quarter hour of UTC. */
export interface Cohort extends CohortCounts {
  readonly lineItemId: string;
  readonly surfaceClass: SurfaceClass;
  readonly quarterMs: number;
}
