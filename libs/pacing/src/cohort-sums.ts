import { confirmedOf, quarterMs, type Cohort, type GoalBasis, type SurfaceClass } from './cohort.ts';
import { owedShare, type ReturnCurve } from './return-curve.ts';

const dayMs = 86_400_000;
const classes = ['stream', 'download'] as const satisfies readonly SurfaceClass[];

/** What the cohorts of a line item sum to, as of a watermark. */
export interface CohortSums {
  /** Servings decided in any cohort. */
  readonly decided: number;
  /** Those of them that are confirmed or held. */
  readonly confirmed: number;
  /** Those that are owed nothing any more: decided, neither confirmed nor held, and beyond what may still be confirmed. */
  readonly returned: number;
  /** The variance of what is owed, Σ τ(1 − τ) · decided; of a share above a half it is that of a half, so that it falls with age too. */
  readonly variance: number;
  /** Of cohorts older than a day by the watermark. */
  readonly settledDecided: number;
  readonly settledConfirmed: number;
}

export const noCohorts: CohortSums = {
  ...{ decided: 0, confirmed: 0, returned: 0, variance: 0 },
  ...{ settledDecided: 0, settledConfirmed: 0 },
};

/** Counts by the quarter hour, from a first one on. */
interface Column {
  first: number;
  decided: Uint32Array;
  confirmed: Uint32Array;
}

/** The cohorts of one line item. A cohort that is put again replaces what it was. */
export interface CohortBook {
  put(cohort: Cohort): void;
  /** Confirmed and decided servings of each quarter hour of a class that ended at `ageMs` before a time in (afterMs, untilMs]. */
  agedBetween(
    surfaceClass: SurfaceClass,
    ageMs: number,
    afterMs: number,
    untilMs: number,
  ): readonly { readonly quarterMs: number; readonly decided: number; readonly confirmed: number }[];
  /**
   * @param watermarkMs time up to which facts are counted: it alone ages cohorts; undefined: nothing is returned
   * @param range only the quarter hours that begin in it, half-open; absent: all
   */
  sums(
    watermarkMs: number | undefined,
    curves: Readonly<Partial<Record<SurfaceClass, ReturnCurve | undefined>>>,
    range?: { readonly fromMs: number; readonly untilMs: number },
  ): CohortSums;
}

/** Room for a quarter, growing at either end; amounts stay at their quarters. */
function makeRoom(column: Column | undefined, quarter: number): Column {
  if (!column) return { first: quarter, decided: new Uint32Array(16), confirmed: new Uint32Array(16) };
  const { first, decided, confirmed } = column;
  if (quarter >= first && quarter < first + decided.length) return column;
  const newFirst = Math.min(first, quarter);
  const last = Math.max(first + decided.length, quarter + 1);
  const length = newFirst < first ? last - newFirst : Math.max(last - newFirst, decided.length * 2);
  const moved = (from: Uint32Array) => {
    const to = new Uint32Array(length);
    to.set(from, first - newFirst);
    return to;
  };
  return { first: newFirst, decided: moved(decided), confirmed: moved(confirmed) };
}

/** An empty book of a line item that counts in `basis`. */
export function createCohortBook(basis: GoalBasis): CohortBook {
  const columns: { stream?: Column; download?: Column } = {};

  return {
    put(cohort) {
      const quarter = Math.floor(cohort.quarterMs / quarterMs);
      const column = makeRoom(columns[cohort.surfaceClass], quarter);
      columns[cohort.surfaceClass] = column;
      column.decided[quarter - column.first] = cohort.decided;
      column.confirmed[quarter - column.first] = confirmedOf(basis, cohort);
    },

    agedBetween(surfaceClass, ageMs, afterMs, untilMs) {
      const column = columns[surfaceClass];
      if (!column) return [];
      const quarterBefore = (atMs: number) => Math.floor((atMs - ageMs) / quarterMs) - 1;
      const from = Math.max(column.first, quarterBefore(afterMs) + 1);
      const to = Math.min(column.first + column.decided.length - 1, quarterBefore(untilMs));
      const found: { quarterMs: number; decided: number; confirmed: number }[] = [];
      for (let quarter = from; quarter <= to; quarter++) {
        const decided = column.decided[quarter - column.first]!;
        if (decided === 0) continue;
        found.push({ quarterMs: quarter * quarterMs, decided, confirmed: column.confirmed[quarter - column.first]! });
      }
      return found;
    },

    sums(watermarkMs, curves, { fromMs, untilMs } = { fromMs: -Infinity, untilMs: Infinity }) {
      let [decided, confirmed, returned, variance, settledDecided, settledConfirmed] = [0, 0, 0, 0, 0, 0];
      for (const surfaceClass of classes) {
        const column = columns[surfaceClass];
        if (!column) continue;
        const first = Math.max(0, Math.ceil(fromMs / quarterMs) - column.first);
        const last = Math.min(column.decided.length, Math.ceil(untilMs / quarterMs) - column.first);
        for (let at = first; at < last; at++) {
          const d = column.decided[at]!;
          if (d === 0) continue;
          decided += d;
          const k = column.confirmed[at]!;
          confirmed += k;
          if (watermarkMs === undefined || basis === 'reserved') continue;
          const ageMs = watermarkMs - (column.first + at + 1) * quarterMs;
          const owed = owedShare(surfaceClass, curves[surfaceClass], ageMs);
          returned += Math.max(0, d - k - owed * d);
          variance += (owed >= 0.5 ? 0.25 : owed * (1 - owed)) * d;
          if (ageMs < dayMs) continue;
          settledDecided += d;
          settledConfirmed += k;
        }
      }
      return { decided, confirmed, returned, variance, settledDecided, settledConfirmed };
    },
  };
}
