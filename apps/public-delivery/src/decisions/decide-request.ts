import { canonicalFormat } from '@longwave/audio';
import type { UserAgentDescription } from '@longwave/audience';
import type { DecideRequest } from '@longwave/rpc/serving';
import type { Listener } from '../listeners/identify-listener.ts';
import type { AdContext } from '../projection/break-table.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import { planBreaks, type PlannedBreak } from './plan-breaks.ts';

/** The surface of these plays, as halts and decisions name it. */
export const surface = 'progressive';

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

/** Asks for the ads of one play. Unknown fields of episode, listener and breaks are empty or zero. */
export function decideRequest(
  decisionId: string,
  { workspaceId, podcastId, episodeId, publishedAt, rendition }: PlayableEpisode,
  { plan, markers, silences, loudness, language, explicit, categories }: AdContext,
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
    region: country && region && `${country}-${region}`,
    device: known(client.platform),
    operatingSystem: known(client.operatingSystem),
    app: known(client.app),
    language: language?.split('-')[0]!.toLowerCase() ?? '',
    contentCategories: [...categories],
    atMs: BigInt(at.getTime()),
    publishedAtMs: BigInt(publishedAt.getTime()),
    loudnessCentilufs: Math.round((loudness ?? 0) * 100),
    adLoadLimitMs: BigInt(plan?.ad_load_limit_ms ?? 0),
  };
}
