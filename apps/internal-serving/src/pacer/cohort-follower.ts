import type { Cohort, SurfaceClass } from '@longwave/pacing';
import type { RpcClient } from '@longwave/rpc';
import type { Cohort as CohortMessage, CohortServiceService, ReadCohortsResponse } from '@longwave/rpc/audience';

export type CohortClient = Pick<RpcClient<typeof CohortServiceService>, 'readCohorts'>;

const dayMs = 86_400_000;
const callMs = 30_000;
/** A first answer has every quarter hour of a line item's window. */
const maxNew = 50;
const maxKnown = 5_000;
const maxDays = 400;

const toCohort = (message: CohortMessage): Cohort => ({
  lineItemId: message.lineItemId,
  surfaceClass: (message.surfaceClass === 'stream' ? 'stream' : 'download') satisfies SurfaceClass,
  quarterMs: Number(message.quarterMs),
  decided: Number(message.decided),
  served: Number(message.served),
  delivered: Number(message.delivered),
  held: Number(message.held),
  clientStarted: Number(message.clientStarted),
  clientCompleted: Number(message.clientCompleted),
});

/** A line item whose cohorts are followed. */
interface FollowedLine {
  readonly lineItemId: string;
  readonly windowStartMs: number;
  /** Whether an answer had all its cohorts. */
  readonly isKnown: boolean;
}

interface CohortAnswer {
  readonly lineItemIds: readonly string[];
  readonly cohorts: readonly Cohort[];
}

export interface CohortFollower {
  /** Time up to which facts are counted, in every answer; undefined before the first round. */
  watermarkMs(): number | undefined;
  /**
   * Asks for the cohorts that changed, of line items that are new for all. Rejects when analytics-sink does not answer: then the last
   * answers stand.
   */
  read(lines: readonly FollowedLine[], atMs: number, apply: (answer: CohortAnswer) => void): Promise<void>;
}

/** Follows the cohorts of analytics-sink. */
export function createCohortFollower(client: CohortClient): CohortFollower {
  let watermarkMs: number | undefined;
  /** Of the oldest answer of the last round, so that no change is left out. */
  let sinceMs: bigint | undefined;

  return {
    watermarkMs: () => watermarkMs,
    async read(lines, atMs, apply) {
      const known = lines.filter((line) => line.isKnown && sinceMs !== undefined);
      const fresh = lines.filter((line) => !line.isKnown || sinceMs === undefined);
      const marks: number[] = [];
      const untils: bigint[] = [];
      const ask = async (batch: readonly FollowedLine[], isKnown: boolean) => {
        const lineItemIds = batch.map((line) => line.lineItemId);
        const firstMs = Math.min(...batch.map((line) => line.windowStartMs));
        const horizonDays = Math.min(maxDays, Math.max(1, Math.ceil((atMs - firstMs) / dayMs) + 1));
        const cohorts: Cohort[] = [];
        let answer: ReadCohortsResponse | undefined;
        // The watermark of the first answer holds for what comes in several.
        for (let since = isKnown ? sinceMs : undefined; !answer || answer.isBehind; since = answer.untilMs) {
          answer = await client.readCohorts({ lineItemIds, horizonDays, sinceMs: since }, { deadlineMs: callMs });
          marks.push(Number(answer.completeUntilMs));
          cohorts.push(...answer.cohorts.map(toCohort));
        }
        untils.push(answer.untilMs);
        apply({ lineItemIds, cohorts });
      };
      for (let from = 0; from < known.length; from += maxKnown) await ask(known.slice(from, from + maxKnown), true);
      for (let from = 0; from < fresh.length; from += maxNew) await ask(fresh.slice(from, from + maxNew), false);
      if (marks.length === 0) return;
      watermarkMs = Math.min(...marks);
      sinceMs = untils.reduce((a, b) => (a < b ? a : b));
    },
  };
}
