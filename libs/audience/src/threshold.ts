import { creditOf, isValidDownload } from './credit.ts';
import { creditTracks, isValidPlay } from './credit-tracks.ts';
import { writtenBy, type ServedRequest } from './served-request.ts';

/** Whether requests of one arrangement reach the threshold together. */
export function qualifies(own: readonly ServedRequest[]): boolean {
  const [first] = own;
  if (first === undefined) return false;
  if (first.layout.track !== undefined) return isValidPlay(creditTracks(own));
  return isValidDownload(first.layout, creditOf(first.layout, writtenBy(own)));
}

/** Whether any one arrangement of these requests reaches the threshold. */
function reachesThreshold(requests: readonly ServedRequest[]): boolean {
  const { arrangementId } = requests[0]!;
  if (requests.every((request) => request.arrangementId === arrangementId)) return qualifies(requests);
  return [...Map.groupBy(requests, (request) => request.arrangementId).values()].some(qualifies);
}

/**
 * The least number of requests from `from` on that reach the threshold in one arrangement; undefined when those before `to` do not.
 * More requests never credit less, so a doubling search finds it: its cost grows with the answer, not with the number of requests.
 */
export function shortestRun(ordered: readonly ServedRequest[], from: number, to: number): number | undefined {
  const max = to - from;
  const reaches = (length: number) => reachesThreshold(ordered.slice(from, from + length));
  let short = 0;
  let enough = 1;
  while (enough < max && !reaches(enough)) {
    short = enough;
    enough *= 2;
  }
  if (enough >= max) {
    if (max === 0 || !reaches(max)) return undefined;
    enough = max;
  }
  while (enough - short > 1) {
    const middle = (short + enough) >> 1;
    if (reaches(middle)) enough = middle;
    else short = middle;
  }
  return enough;
}
