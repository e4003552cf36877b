import { problemOf } from '@longwave/http-kit';
import { databaseOutage } from '@longwave/postgres';
import type { Exchange } from '../http/route.ts';
import type { IdentifyListener } from '../listeners/identify-listener.ts';
import type { OnlyLooks } from '../listeners/only-looks.ts';
import type { BoundAd, BoundAdsOfPlays } from './bound-ads.ts';
import type { FoundHlsPlay } from './find-hls-play.ts';

export interface ListBreakAdsOptions {
  readonly identify: IdentifyListener;
  readonly onlyLooks: OnlyLooks;
  readonly ads: Pick<BoundAdsOfPlays, 'list'>;
}

/**
 * The ads of one break for a request, in order, decided now if they are not yet. Nothing is decided for who only looks (HEAD, prefetches, bots,
 * Apple's Scout). None when they can neither be decided nor read, so that the content goes on.
 */
export type ListBreakAds = (
  exchange: Exchange,
  found: FoundHlsPlay,
  breakKey: string,
  surfaces?: Parameters<BoundAdsOfPlays['list']>[3],
) => Promise<readonly BoundAd[]>;

/** True for a failure of an engine, of which an answer without ads makes no more. */
export const isEngineAway = (error: unknown): boolean => problemOf(error, databaseOutage).status === 503;

export function createListBreakAds({ identify, onlyLooks, ads }: ListBreakAdsOptions): ListBreakAds {
  return async ({ request, startedAt, requestId }, found, breakKey, surfaces) => {
    const listener = identify(request, startedAt);
    const asker = onlyLooks(request, listener) ? undefined : { listener, requestId };
    try {
      const all = await ads.list(found, asker, startedAt, surfaces);
      return all.filter((ad) => ad.breakKey === breakKey);
    } catch (error) {
      if (!isEngineAway(error)) throw error;
      return [];
    }
  };
}
