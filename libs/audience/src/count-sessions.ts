import { creditOf, deliveredAds, isValidDownload, type DeliveredAd, type Layout } from './credit.ts';
import { unionIntervals, type Interval } from './intervals.ts';

export const dayMs = 86_400_000;

/** All eligible bytes of one request. */
export interface ServedRequest {
  readonly requestId: string;
  readonly listenerKey: string;
  readonly arrangementId: string;
  readonly layout: Layout;
  readonly startedAtMs: number;
  readonly written: readonly Interval[];
}

/** What a session is worth. */
export interface CountedDownload {
  readonly arrangementId: string;
  /** Whole milliseconds, rounded down. */
  readonly creditedMs: number;
  /** The same for content parts alone. */
  readonly contentMs: number;
  readonly ads: readonly DeliveredAd[];
  /** Other arrangements that reached the threshold too (`duplicate_arrangement`). */
  readonly duplicateArrangements: readonly string[];
}

/** The requests of one listener and episode in one window (measurement.md D9, calendar_utc). */
export interface Session<R extends ServedRequest = ServedRequest> {
  /** The earliest request; its listener key and start are the session's. */
  readonly first: R;
  /** UTC date of the start, `YYYY-MM-DD`; the window. */
  readonly windowOn: string;
  /** Undefined below the threshold. */
  readonly download: CountedDownload | undefined;
}

/** Start of the UTC day, milliseconds since the epoch. */
export function dayStartMs(atMs: number): number {
  return Math.floor(atMs / dayMs) * dayMs;
}

function byStart(a: ServedRequest, b: ServedRequest): number {
  return a.startedAtMs - b.startedAtMs || (a.requestId < b.requestId ? -1 : a.requestId > b.requestId ? 1 : 0);
}

/** The arrangements that qualify within these requests, the first to reach the threshold first. */
function qualifiedArrangements(requests: readonly ServedRequest[]): string[] {
  const qualifies = (own: readonly ServedRequest[]) => {
    const { layout } = own[0]!;
    return isValidDownload(layout, creditOf(layout, unionIntervals(own.flatMap((request) => request.written))));
  };
  const byArrangement = Map.groupBy(requests, (request) => request.arrangementId);
  const qualified = [...byArrangement].filter(([, own]) => qualifies(own));
  if (qualified.length < 2) return qualified.map(([arrangementId]) => arrangementId);
  const crossing = ([arrangementId, own]: readonly [string, readonly ServedRequest[]]) => {
    const at = own.findIndex((_, index) => qualifies(own.slice(0, index + 1)));
    return { arrangementId, request: own[at]! };
  };
  return qualified
    .map(crossing)
    .sort((a, b) => byStart(a.request, b.request))
    .map(({ arrangementId }) => arrangementId);
}

function countDownload(requests: readonly ServedRequest[]): CountedDownload | undefined {
  const [arrangementId, ...duplicateArrangements] = qualifiedArrangements(requests);
  if (arrangementId === undefined) return undefined;
  const own = requests.filter((request) => request.arrangementId === arrangementId);
  const { layout } = own[0]!;
  const written = unionIntervals(own.flatMap((request) => request.written));
  const credit = creditOf(layout, written);
  return {
    arrangementId,
    creditedMs: Number(credit.timeNs / 1_000_000n),
    contentMs: Number(credit.contentNs / 1_000_000n),
    ads: deliveredAds(layout, written),
    duplicateArrangements,
  };
}

/**
 * Counts the requests of one listener and one episode in calendar_utc windows. A session is every request that started on the
 * UTC date of its first; one that is below the threshold at midnight goes on to 24 h after its start. Counts depend on the set of
 * requests alone, not on their order. Requests of one id must be merged before.
 */
export function countSessions<R extends ServedRequest>(requests: Iterable<R>): Session<R>[] {
  const ordered = [...requests].sort(byStart);
  const sessions: Session<R>[] = [];
  while (ordered.length > 0) {
    const first = ordered[0]!;
    const before = (endMs: number) => {
      const end = ordered.findIndex((request) => request.startedAtMs >= endMs);
      return end === -1 ? ordered.length : end;
    };
    let taken = before(dayStartMs(first.startedAtMs) + dayMs);
    let download = countDownload(ordered.slice(0, taken));
    const extended = before(first.startedAtMs + dayMs);
    if (download === undefined && extended > taken) {
      taken = extended;
      download = countDownload(ordered.slice(0, taken));
    }
    ordered.splice(0, taken);
    sessions.push({ first, windowOn: new Date(first.startedAtMs).toISOString().slice(0, 10), download });
  }
  return sessions;
}
