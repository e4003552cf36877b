import type { DeliveryEventKind } from '@longwave/events';
import type { AnsweredAd, TrackingEvent } from '@longwave/vast';
import type { ServingTokens } from '../reports/serving-token.ts';
import type { BoundAd } from './bound-ads.ts';

/** The events of VAST that have a kind here, in the order in which they happen; `rewind` and `closeLinear` have none. */
const kindOf: Readonly<Partial<Record<TrackingEvent, DeliveryEventKind>>> = {
  loaded: 'loaded',
  start: 'start',
  firstQuartile: 'first_quartile',
  midpoint: 'midpoint',
  thirdQuartile: 'third_quartile',
  complete: 'complete',
  pause: 'pause',
  resume: 'resume',
  mute: 'mute',
  unmute: 'unmute',
  skip: 'skip',
};
const trackedEvents = Object.entries(kindOf) as readonly (readonly [TrackingEvent, DeliveryEventKind])[];

export interface VastAdOptions {
  readonly servingTokens: Pick<ServingTokens, 'mint'>;
  /** How long reports are on time; undefined without a policy. */
  readonly lifeDays: number | undefined;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  /** The token of the ad's media. */
  readonly mediaToken: string;
}

/**
 * An ad of a play as VAST tells it: its MP3 and its presentation of HLS, and the addresses of its reports, which are those of the play's
 * timeline. Delivery knows no title of a creative, so the id stands in its place.
 */
export function vastAdOf(ad: BoundAd, { servingTokens, lifeDays, mediaUrl, mediaToken }: VastAdOptions): AnsweredAd {
  const { counted, decisionId, boundAt, track, pictures, mp3 } = ad;
  const { serving_id: servingId, creative_id: creativeId, click_url: clickUrl } = counted;
  const base = `${mediaUrl}/delivery/v1`;
  const token = (purpose: 'evt' | 'clk') => servingTokens.mint(purpose, { servingId, decisionId }, boundAt, lifeDays);
  const events = `${base}/ev/${token('evt')}`;
  // Players load such an address as a picture, so a picture answers.
  const report = (kind: DeliveryEventKind) => `${events}?e=${kind}&f=gif`;
  const largest = pictures?.renditions.at(-1);
  const kbps = (bitsPerSecond: number) => Math.round(bitsPerSecond / 1000);
  return {
    ...{ servingId, creativeId, title: creativeId, adType: largest ? 'video' : 'audio', durationMs: mp3.durationMs },
    mediaFiles: [
      { kind: 'mp3', url: `${base}/ad/${mediaToken}/ad.mp3`, kbps: Math.round((mp3.sizeBytes * 8) / mp3.durationMs) },
      {
        ...{ kind: 'hls', url: `${base}/ad/${mediaToken}/main.m3u8` },
        ...{ minKbps: kbps(track.rates.average), maxKbps: kbps(track.rates.peak + (largest?.track.rates.peak ?? 0)) },
        ...(largest && { picture: { width: largest.width, height: largest.height } }),
      },
    ],
    impressionUrl: report('impression'),
    errorUrl: report('error'),
    trackingUrls: trackedEvents.map(([event, kind]) => ({ event, url: report(kind) })),
    ...(clickUrl !== undefined && { clickThroughUrl: `${base}/k/${token('clk')}` }),
  };
}
