/** What a line item counts towards its goal (docs/counting.md). */
type CountingBasis = 'reserved' | 'served_bytes' | 'ad_delivered' | 'client_event';

/** What a goal is counted in: a basis, or complete reports of players for a goal of completes. */
export type GoalBasis = CountingBasis | 'completes';

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

export const quarterMs = 900_000;

const reached: Readonly<Record<GoalBasis, (counts: CohortCounts) => number>> = {
  reserved: ({ decided }) => decided,
  // Bytes are written whether the download is held or not.
  served_bytes: ({ served }) => served,
  ad_delivered: ({ delivered, held }) => delivered + held,
  client_event: ({ clientStarted, held }) => clientStarted + held,
  completes: ({ clientCompleted, held }) => clientCompleted + held,
};

/** Servings of a cohort that reached the basis, and held ones, so that a release cannot go beyond a goal; at most `decided`. */
export const confirmedOf = (basis: GoalBasis, counts: CohortCounts): number =>
  Math.min(counts.decided, reached[basis](counts));
