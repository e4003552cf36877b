import type { ScheduledBreak } from './break-schedule.ts';
import { quoted, uriText } from './tag.ts';

/** The date of content time 0: no clock, equal for everybody, and not 1970, which Apple refuses. */
export const programDateTime = '2020-01-01T00:00:00.000Z';

const dateAt = (ms: number) => new Date(Date.parse(programDateTime) + ms).toISOString();

/**
 * The date range of one break, by the names of its attributes in the order in which they are written. Also one object of a schedule of
 * date ranges (draft-pantos-hls-rfc8216bis, appendix H).
 */
export type DateRange = Readonly<Record<string, string | number>>;

/**
 * The interstitial of each break (appendix D), in order. None has a duration: the ads are not decided yet, and a wrong one fails.
 * @param assetListUrl the absolute address of the asset list of a break, without a query
 */
export const dateRangesOf = (
  schedule: readonly ScheduledBreak[],
  assetListUrl: (scheduled: ScheduledBreak) => string,
): DateRange[] =>
  schedule.map((scheduled) => ({
    ID: scheduled.key,
    CLASS: 'com.apple.hls.interstitial',
    'START-DATE': dateAt(scheduled.startMs),
    'X-ASSET-LIST': `${uriText(assetListUrl(scheduled))}?_HLS_interstitial_id=${encodeURIComponent(scheduled.key)}`,
    'X-RESUME-OFFSET': 0,
    ...(scheduled.position === 'post' ? { CUE: 'POST' } : { 'X-SNAP': 'OUT,IN' }),
    'X-TIMELINE-OCCUPIES': 'RANGE',
    'X-TIMELINE-STYLE': 'PRIMARY',
    'X-CONTENT-MAY-VARY': 'YES',
  }));

/** The tag of a date range. */
export function renderDateRange(range: DateRange): string {
  const attributes = Object.entries(range).map(
    ([name, value]) => `${name}=${typeof value === 'number' ? value : quoted(value)}`,
  );
  return `#EXT-X-DATERANGE:${attributes.join(',')}`;
}
