import { canonicalFormat, durationMsOfFrames } from '@longwave/audio';
import type { UserAgentDescription } from '@longwave/audience';
import { hlsAudioFormat, hlsPictureFormat } from '@longwave/events';
import type { DecideRequest } from '@longwave/rpc/serving';
import type { Listener } from '../listeners/identify-listener.ts';
import { surface } from '../projection/break-plan.ts';
import type { AdContext } from '../projection/break-table.ts';
import type { DeliveryBounds } from '../projection/policy-table.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import { planBreaks, type PlannedBreak } from './plan-breaks.ts';

/** The lists say "unknown", a decision expects an empty text. */
const known = (text: string): string => (text === 'unknown' ? '' : text);

/** The first 16 bytes of a listener key. */
const bucketOf = (key: string | undefined): Buffer => Buffer.from((key ?? '').slice(0, 32), 'hex');

const toRequestedBreak = (planned: PlannedBreak): DecideRequest['breaks'][number] => ({
  key: planned.key,
  position: planned.position,
  maxSlots: planned.maxSlots,
  maxDurationMs: BigInt(planned.maxDurationMs),
  positionMs: BigInt(planned.contentMs),
  slotRules: planned.slotRules.map(({ slot, max_duration_ms, line_item_types, productions }) => ({
    slot,
    maxDurationMs: BigInt(max_duration_ms ?? 0),
    lineItemTypes: line_item_types ?? [],
    productions: productions ?? [],
  })),
});

/** The milliseconds of ads that a bound allows; whole frames have constant bytes, so bytes are a time. */
function boundMs({ max_added_ms: ms, max_added_bytes: bytes, max_added_pct: pct }: DeliveryBounds, contentMs: number) {
  const { frameMs, frameSizeBytes } = canonicalFormat;
  return Math.min(
    ms ?? Infinity,
    bytes === undefined ? Infinity : Math.floor(bytes / frameSizeBytes) * frameMs,
    pct === undefined ? Infinity : Math.floor((contentMs * pct) / 100),
  );
}

/** The longest advertising in one play: the plan's limit, and the bounds of policies where they are tighter. 0 stands for no limit. */
function longestAdsMs({ plan, bounds }: Pick<AdContext, 'plan' | 'bounds'>, contentMs: number): number {
  const limits = bounds.map((bound) => boundMs(bound, contentMs));
  const limitMs = Math.min(plan?.ad_load_limit_ms ?? Infinity, ...limits);
  return limitMs === Infinity ? 0 : Math.max(1, limitMs);
}

/** Pictures are played with the same sound. Of the MP3 alone nothing is asked but `streamFormat`. */
const formatsOf = ({ hlsAudio, hlsVideo }: Pick<AdContext, 'hlsAudio' | 'hlsVideo'>): string[] =>
  hlsAudio || hlsVideo ? [canonicalFormat.name, hlsAudioFormat, ...(hlsVideo ? [hlsPictureFormat] : [])] : [];

/** Asks for the ads of one play. Unknown fields of episode, listener and breaks are empty or zero. */
export function decideRequest(
  decisionId: string,
  { workspaceId, podcastId, episodeId, publishedAt, rendition }: PlayableEpisode,
  { plan, bounds, markers, silences, loudness, language, explicit, categories, hlsAudio, hlsVideo }: AdContext,
  listener: Pick<Listener, 'key' | 'previousKey' | 'country' | 'region'>,
  client: Pick<UserAgentDescription, 'app' | 'platform' | 'operatingSystem'>,
  at: Date,
): DecideRequest {
  const country = known(listener.country);
  const region = known(listener.region);
  const frames = Math.floor(rendition.sizeBytes / canonicalFormat.frameSizeBytes);
  return {
    ...{ decisionId, workspaceId, podcastId, episodeId, surface, explicit, country },
    listenerBucket: bucketOf(listener.key),
    previousListenerBucket: bucketOf(listener.previousKey),
    breaks: planBreaks(plan, markers, { frames, silences }).map(toRequestedBreak),
    streamFormat: canonicalFormat.name,
    streamFormats: formatsOf({ hlsAudio, hlsVideo }),
    region: country && region && `${country}-${region}`,
    device: known(client.platform),
    operatingSystem: known(client.operatingSystem),
    app: known(client.app),
    language: language?.split('-')[0]!.toLowerCase() ?? '',
    contentCategories: [...categories],
    atMs: BigInt(at.getTime()),
    publishedAtMs: BigInt(publishedAt.getTime()),
    loudnessCentilufs: Math.round((loudness ?? 0) * 100),
    adLoadLimitMs: BigInt(longestAdsMs({ plan, bounds }, durationMsOfFrames(frames))),
  };
}
