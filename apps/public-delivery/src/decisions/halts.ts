import { surface, type HaltScope } from '../projection/break-plan.ts';
import { keepAds, type CountedAds, type PlayAds } from './play-ads.ts';

/** True when plays of the podcast have no ads at all. @param on the surface on which they are played */
export const haltsAll = (halts: readonly HaltScope[], podcastId: string, on: string = surface): boolean =>
  halts.some(
    (halt) =>
      halt.kind === 'workspace' ||
      (halt.kind === 'show' && halt.podcast_id === podcastId) ||
      (halt.kind === 'surface' && halt.surface === on),
  );

/** True when an ad must not run any more. @param on the surface on which it is played */
export const haltsAd = (
  halts: readonly HaltScope[],
  podcastId: string,
  ad: CountedAds[string],
  on: string = surface,
): boolean =>
  haltsAll(halts, podcastId, on) ||
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
