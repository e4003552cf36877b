import { maxEventsOfServing } from '@longwave/audience';
import type { DeliveryEventKind } from '@longwave/events';
import { LRUCache } from 'lru-cache';

/** The part of a report by which it is counted. */
interface CountedReport {
  readonly servingId: string;
  readonly event: DeliveryEventKind;
  /** Undefined when it is not known. */
  readonly adDurationMs: number | undefined;
}

/** Bounds the reports of one serving that this process keeps: a client that has its address could else fill the disks. */
export interface ReportLimit {
  /** Whether one more report may be kept; it is counted if so. */
  tryKeep(report: CountedReport): boolean;
  /** Takes back a report that was counted and then not kept. */
  release(report: CountedReport): void;
}

/** Servings whose reports are counted; those that were silent for longest are forgotten. */
const maxServings = 50_000;
/** Players repeat unanswered reports, and each counts repetitions its own way; more than this comes from no player. */
const timesPossible = 32;

export function createReportLimit(): ReportLimit {
  const servings = new LRUCache<string, Map<DeliveryEventKind, number>>({ max: maxServings });
  return {
    tryKeep: ({ servingId, event, adDurationMs }) => {
      const known = servings.get(servingId);
      const counts = known ?? new Map<DeliveryEventKind, number>();
      if (!known) servings.set(servingId, counts);
      const count = counts.get(event) ?? 0;
      if (count >= timesPossible * maxEventsOfServing(event, adDurationMs)) return false;
      counts.set(event, count + 1);
      return true;
    },
    release: ({ servingId, event }) => {
      const counts = servings.get(servingId);
      counts?.set(event, Math.max(0, (counts.get(event) ?? 0) - 1));
    },
  };
}
