import { surface, type HaltScope } from '../projection/break-plan.ts';
import { keepAds, type CountedAds, type PlayAds } from './play-ads.ts';

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

/** The ads that may run. */
export const withoutHalted = (ads: PlayAds, halts: readonly HaltScope[], podcastId: string): PlayAds =>
  keepAds(ads, (_slot, ad) => !haltsAd(halts, podcastId, ad));
