import { quarterMs, type Cohort } from '../cohort.ts';

const minuteMs = 60_000;

/** What the sink counts of a serving: that it was decided, or that it was delivered. */
interface Fact {
  readonly lineItemId: string;
  readonly quarter: number;
  readonly isDelivery: boolean;
}

/** analytics-sink: counts facts by the minute, so long after they happened, and everything that waited when the bus is back. */
export function createSink(startMs: number, lagMs: number) {
  const minutes = new Map<number, Fact[]>();
  const cohorts = new Map<string, Map<number, { decided: number; delivered: number }>>();
  let countedUntil = Math.floor(startMs / minuteMs);
  let awayUntilMs = 0;

  function cohortOf(lineItemId: string, quarter: number): Cohort {
    const { decided, delivered } = cohorts.get(lineItemId)!.get(quarter)!;
    return {
      ...{ lineItemId, surfaceClass: 'download', quarterMs: quarter * quarterMs, decided },
      ...{ served: delivered, delivered, held: 0, clientStarted: 0, clientCompleted: 0 },
    };
  }

  return {
    add(atMs: number, fact: Fact) {
      const minute = Math.max(countedUntil, Math.floor(atMs / minuteMs));
      const facts = minutes.get(minute);
      if (facts) facts.push(fact);
      else minutes.set(minute, [fact]);
    },
    /** The bus is away. */
    stop: (untilMs: number) => (awayUntilMs = untilMs),
    /** Counts what it can by a time; answers the watermark, and the cohorts that changed. */
    count(atMs: number): { readonly watermarkMs: number; readonly changed: readonly Cohort[] } {
      const until = atMs < awayUntilMs ? countedUntil : Math.floor((atMs - lagMs) / minuteMs);
      const changed = new Map<string, Set<number>>();
      for (; countedUntil < until; countedUntil++) {
        for (const { lineItemId, quarter, isDelivery } of minutes.get(countedUntil) ?? []) {
          const ofLine = cohorts.get(lineItemId) ?? new Map<number, { decided: number; delivered: number }>();
          cohorts.set(lineItemId, ofLine);
          const cohort = ofLine.get(quarter) ?? { decided: 0, delivered: 0 };
          cohort[isDelivery ? 'delivered' : 'decided']++;
          ofLine.set(quarter, cohort);
          changed.set(lineItemId, (changed.get(lineItemId) ?? new Set<number>()).add(quarter));
        }
        minutes.delete(countedUntil);
      }
      const told = [...changed].flatMap(([id, quarters]) => [...quarters].map((quarter) => cohortOf(id, quarter)));
      return { watermarkMs: countedUntil * minuteMs, changed: told };
    },
    /** Everything, for a pacer that begins. */
    all: (): readonly Cohort[] =>
      [...cohorts].flatMap(([lineItemId, quarters]) =>
        [...quarters.keys()].map((quarter) => cohortOf(lineItemId, quarter)),
      ),
  };
}
