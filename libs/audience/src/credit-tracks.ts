import { thresholdNs, type Credit } from './credit.ts';
import { unionIntervals } from './intervals.ts';
import type { ServedRequest } from './served-request.ts';
import { playedOf, type WrittenTrack } from './track.ts';

/** The tracks that these requests wrote of one asset, the content or one ad. */
export function tracksOf(requests: readonly ServedRequest[]): WrittenTrack[] {
  const tracks = Map.groupBy(requests, ({ layout }) => layout.track);
  return [...tracks.values()].flatMap((own) => {
    const { track } = own[0]!;
    return track ? [{ track, written: unionIntervals(own.flatMap(({ written }) => written)) }] : [];
  });
}

const servingOf = ({ layout: { parts } }: ServedRequest) => parts[0]?.ad?.serving_id;

/**
 * Credits requests for the tracks of one presentation and of the ads that were served in it (docs/counting.md#hls).
 * @returns `complete`: all of the content is credited
 */
export function creditTracks(requests: readonly ServedRequest[]): Omit<Credit, 'bytes'> {
  const assets = Map.groupBy(requests, servingOf);
  const content = playedOf(tracksOf(assets.get(undefined) ?? []));
  assets.delete(undefined);
  const ads = [...assets.values()].map((own) => playedOf(tracksOf(own)).playedNs);
  return {
    timeNs: ads.reduce((sum, ns) => sum + ns, content.playedNs),
    contentNs: content.playedNs,
    complete: content.whole,
  };
}

/** Whether such a credit reaches the threshold: 60.000 s, or all of the content when that is shorter (docs/counting.md#hls). */
export const isValidPlay = ({ timeNs, complete }: Omit<Credit, 'bytes'>): boolean => timeNs >= thresholdNs || complete;
