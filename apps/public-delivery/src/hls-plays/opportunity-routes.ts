import { Problem } from '@longwave/problems';
import { deliveryContract } from '@longwave/services';
import { renderVast, type AnsweredAd } from '@longwave/vast';
import { openedToken } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendText } from '../http/send-text.ts';
import { bindingMs } from '../plays/bound-plays.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { ServingTokens } from '../reports/serving-token.ts';
import { onVast } from './bound-ads.ts';
import type { FindHlsPlay, FoundHlsPlay } from './find-hls-play.ts';
import type { HlsTokens } from './hls-tokens.ts';
import { isEngineAway, type ListBreakAds } from './list-break-ads.ts';
import { vastAdOf } from './vast-ad.ts';

export interface OpportunityRoutesOptions {
  readonly findPlay: FindHlsPlay;
  readonly tokens: Pick<HlsTokens, 'openOpportunity' | 'mintAd'>;
  readonly listAds: ListBreakAds;
  readonly projection: Pick<RecentProjection, 'findReportTokenDays'>;
  readonly servingTokens: Pick<ServingTokens, 'mint'>;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}

const answering = {
  system: { name: 'Longwave', version: deliveryContract.version },
  // What is left of 24 h when the ads are decided. A play begins when it is opened, and its ads are decided as of then.
  expiresSeconds: bindingMs / 1000,
};

/**
 * VAST of one break of a play by HLS, with the ads that its asset list has. Like that list it is repeated byte for byte, decides at the first
 * question of who may count, and has no ads while an engine is away. It leaves no fact: what players report of its ads does.
 */
export function opportunityRoutes(options: OpportunityRoutesOptions): readonly Route[] {
  const { findPlay, tokens, listAds, projection, servingTokens, mediaUrl } = options;

  async function answeredAds(
    exchange: Exchange,
    found: FoundHlsPlay,
    breakKey: string,
    maxAds: number,
  ): Promise<readonly AnsweredAd[]> {
    const ads = await listAds(exchange, found, breakKey, onVast);
    if (ads.length === 0) return [];
    const lifeDays = await projection.findReportTokenDays(found.play.episodeId, exchange.startedAt);
    return ads.slice(0, maxAds).map((ad) => {
      const mediaToken = tokens.mintAd(found.play, ad.counted.serving_id, ad.pictures !== undefined);
      return vastAdOf(ad, { servingTokens, lifeDays, mediaUrl, mediaToken });
    });
  }

  async function readVast(exchange: Exchange): Promise<void> {
    const { playId, place, maxAds } = openedToken(exchange, tokens.openOpportunity);
    const found = await findPlay(playId, exchange.startedAt);
    const scheduled = found.play.schedule[place];
    if (!scheduled) throw new Problem('not_found');
    const ads = await answeredAds(exchange, found, scheduled.key, maxAds).catch((error: unknown) => {
      if (!isEngineAway(error)) throw error;
      return [];
    });
    const headers = { 'content-type': 'application/xml', 'cache-control': 'private, no-store' };
    await sendText(exchange, renderVast({ ...answering, ads }), headers);
  }

  return [{ name: 'vast.read', path: '/delivery/v1/v/:token', get: readVast }];
}
