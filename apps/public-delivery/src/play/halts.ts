import type { HaltScope } from '../projection/break-plan.ts';
import type { FilledBreak } from './arranged-breaks.ts';
import { surface } from './decide-request.ts';
import type { CountedAds } from './play-table.ts';

/** The ads of a play, by what is joined and by what is counted. */
export interface PlayAds {
  readonly breaks: readonly FilledBreak[];
  readonly counted: CountedAds;
}

/** True when plays of the podcast have no ads at all. */
export const haltsAll = (halts: readonly HaltScope[], podcastId: string): boolean =>
  halts.some(
    (halt) =>
      halt.kind === 'workspace' ||
      (halt.kind === 'show' && halt.podcast_id === podcastId) ||
      (halt.kind === 'surface' && halt.surface === surface),
  );

const haltsAd = (halts: readonly HaltScope[], podcastId: string, ad: CountedAds[string]): boolean =>
  haltsAll(halts, podcastId) ||
  halts.some(
    (halt) =>
      (halt.kind === 'creative' && halt.creative_id === ad.creative_id) ||
      (halt.kind === 'line_item' && halt.line_item_id === ad.line_item_id),
  );

/** True when one of the ads must not run any more. */
export const haltsAny = (halts: readonly HaltScope[], podcastId: string, counted: CountedAds): boolean =>
  Object.values(counted).some((ad) => haltsAd(halts, podcastId, ad));

/** The ads that may run; a break that has none is none. */
export function withoutHalted({ breaks, counted }: PlayAds, halts: readonly HaltScope[], podcastId: string): PlayAds {
  const left = Object.fromEntries(Object.entries(counted).filter(([, ad]) => !haltsAd(halts, podcastId, ad)));
  return {
    breaks: breaks
      .map((each) => ({ ...each, ads: each.ads.filter(({ slot }) => slot in left) }))
      .filter(({ ads }) => ads.length > 0),
    counted: left,
  };
}
