import { creditOf } from './credit.ts';
import { creditTracks } from './credit-tracks.ts';
import { deliveredAds, servedAds, type DeliveredAd } from './delivered-ads.ts';
import { byStart, dateOf, dayMs, dayStartMs, writtenBy, type ServedRequest } from './served-request.ts';
import { qualifies, shortestRun } from './threshold.ts';

/** The download that a session counts as. */
interface CountedDownload {
  readonly arrangementId: string;
  /** Whole milliseconds, rounded down. */
  readonly creditedMs: number;
  /** The same for content parts alone. */
  readonly contentMs: number;
  readonly ads: readonly DeliveredAd[];
  /** Other arrangements of the session that also reached the threshold. */
  readonly duplicateArrangements: readonly string[];
}

/** The requests of one listener and episode in one window `calendar_utc` (docs/counting.md#the-three-windows). */
export interface Session<R extends ServedRequest = ServedRequest> {
  /** The earliest request; its listener key and start are the session's. */
  readonly first: R;
  /** UTC date of the start, `YYYY-MM-DD`; the window. */
  readonly windowOn: string;
  /** Undefined when the requests stay below the threshold. */
  readonly download: CountedDownload | undefined;
  /** All ads that were wholly written, those of the download included. */
  readonly served: readonly DeliveredAd[];
}

/** The arrangements that qualify within these requests, the first to reach the threshold first. */
function qualifiedArrangements(requests: readonly ServedRequest[]): string[] {
  const qualified = [...Map.groupBy(requests, (request) => request.arrangementId)].filter(([, own]) => qualifies(own));
  if (qualified.length < 2) return qualified.map(([arrangementId]) => arrangementId);
  return qualified
    .map(([arrangementId, own]) => ({ arrangementId, request: own[shortestRun(own, 0, own.length)! - 1]! }))
    .sort((a, b) => byStart(a.request, b.request))
    .map(({ arrangementId }) => arrangementId);
}

function countDownload(requests: readonly ServedRequest[]): CountedDownload | undefined {
  const [arrangementId, ...duplicateArrangements] = qualifiedArrangements(requests);
  if (arrangementId === undefined) return undefined;
  const own = requests.filter((request) => request.arrangementId === arrangementId);
  // The bytes of one arrangement add up to the download, whatever ads were decided; ads count by serving.
  const { layout } = own[0]!;
  const credit = layout.track === undefined ? creditOf(layout, writtenBy(own)) : creditTracks(own);
  return {
    arrangementId,
    creditedMs: Number(credit.timeNs / 1_000_000n),
    contentMs: Number(credit.contentNs / 1_000_000n),
    ads: deliveredAds(own),
    duplicateArrangements,
  };
}

/**
 * Counts the requests of one listener and one episode in calendar_utc windows. A session is every request that started on the
 * UTC date of its first; a session that is below the threshold at midnight goes on to 24 h after its start. Counts depend on the set of
 * requests alone, not on their order. The caller merges requests with the same id first.
 */
export function countSessions<R extends ServedRequest>(requests: Iterable<R>): Session<R>[] {
  const ordered = [...requests].sort(byStart);
  const sessions: Session<R>[] = [];
  for (let at = 0; at < ordered.length;) {
    const first = ordered[at]!;
    const before = (endMs: number) => {
      let end = at;
      while (end < ordered.length && ordered[end]!.startedAtMs < endMs) end++;
      return end;
    };
    let end = before(dayStartMs(first.startedAtMs) + dayMs);
    let download = countDownload(ordered.slice(at, end));
    const extended = before(first.startedAtMs + dayMs);
    if (download === undefined && extended > end) {
      end = extended;
      download = countDownload(ordered.slice(at, end));
    }
    const served = servedAds(ordered.slice(at, end));
    at = end;
    sessions.push({ first, windowOn: dateOf(first.startedAtMs), download, served });
  }
  return sessions;
}
