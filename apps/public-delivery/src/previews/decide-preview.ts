import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { DecideRequest, ServingServiceService } from '@longwave/rpc/serving';
import { splitSlotName } from '../arrangements/arranged-breaks.ts';
import { decideRequest } from '../decisions/decide-request.ts';
import { readAnswer } from '../decisions/decide.ts';
import { haltsAll, withoutHalted } from '../decisions/halts.ts';
import { keepAds, noAds, type PlayAds } from '../decisions/play-ads.ts';
import { getAdContext, listHalts } from '../projection/break-table.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import { within } from '../segments/within.ts';

/** Whom an editor listens as. */
interface PreviewedListener {
  readonly country: string;
  /** As the lists of user agents name them; '' when unknown. */
  readonly app: string;
  readonly device: string;
  readonly operatingSystem: string;
}

/** The ads of a preview, and why they are these. */
interface PreviewDecision {
  readonly ads: PlayAds;
  /** The breaks that were asked for, and what the decision said, as JSON; without ids of the decision and of its servings. */
  readonly told: Readonly<Record<string, unknown>>;
}

export interface DecidePreviewOptions {
  readonly pool: Pool;
  readonly previewDecision: RpcClient<typeof ServingServiceService>['previewDecision'];
  readonly segments: Pick<SegmentCache, 'fetch'>;
}

export type DecidePreview = (
  decisionId: string,
  episode: PlayableEpisode,
  listener: PreviewedListener,
  time: { readonly at: Date; readonly asPaced: boolean },
  /** Aborted when nobody waits for it. */
  signal: AbortSignal,
) => Promise<PreviewDecision>;

/** An editor waits longer than a listener. */
const deadlineMs = 5_000;
/** An ad whose file the cache does not have by then is left out. */
const segmentWaitMs = 5_000;

const toldBreak = (asked: DecideRequest['breaks'][number]) => ({
  key: asked.key,
  position: asked.position,
  position_ms: Number(asked.positionMs),
  max_slots: asked.maxSlots,
  max_duration_ms: Number(asked.maxDurationMs),
});

const toldAd = ([slot, ad]: [slot: string, ad: PlayAds['counted'][string]]) => ({
  break_key: splitSlotName(slot).key,
  slot: splitSlotName(slot).slot,
  ...{ campaign_id: ad.campaign_id, line_item_id: ad.line_item_id, creative_id: ad.creative_id },
});

/**
 * Asks for the ads of a preview, as for a play of somebody who has heard nothing, and fetches their segments. It reads the projection of now
 * past what plays remember of it, because a preview of another time has another break plan. Throws `temporarily_unavailable` when the ads
 * cannot be decided: a preview without them would say that listeners have none.
 */
export function createDecidePreview({ pool, previewDecision, segments }: DecidePreviewOptions): DecidePreview {
  async function onlyCached(ads: PlayAds): Promise<PlayAds> {
    const slots = ads.breaks.flatMap((each) => each.ads);
    const fetched = slots.map(({ slot, digest, sizeBytes }) =>
      within(segmentWaitMs, segments.fetch(digest, sizeBytes)).then(
        () => [slot],
        () => [],
      ),
    );
    const cached = new Set((await Promise.all(fetched)).flat());
    return keepAds(ads, (slot) => cached.has(slot));
  }

  return async (decisionId, episode, { device, ...listener }, { at, asPaced }, signal) => {
    const { workspaceId, podcastId } = episode;
    const [context, halts] = await Promise.all([getAdContext(pool, episode, at), listHalts(pool, workspaceId)]);
    const who = { country: listener.country, region: '', key: '', previousKey: undefined };
    const client = { app: listener.app, platform: device, operatingSystem: listener.operatingSystem };
    const request = decideRequest(decisionId, episode, context, who, client, at);
    const common = { at: at.toISOString(), as_paced: asPaced, breaks: request.breaks.map(toldBreak) };
    const isHalted = haltsAll(halts, podcastId);
    if (episode.withoutAds || isHalted) {
      const reason = isHalted ? 'halted' : 'episode_without_ads';
      const nothing = { serving_plan_id: null, picks: [], stages: [], candidates: [] };
      return { ads: noAds, told: { ...common, ...nothing, no_ad_reason: reason } };
    }
    const { answer, traceJson } = await previewDecision({ play: request, asPaced }, { deadlineMs, signal });
    const decision = answer && readAnswer(request, answer);
    if (!answer || !decision?.decided)
      throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
    const ads = await onlyCached(withoutHalted(decision, halts, podcastId));
    return {
      ads,
      told: {
        ...common,
        serving_plan_id: answer.servingPlanId || null,
        no_ad_reason: answer.noAdReason || null,
        picks: Object.entries(ads.counted).map(toldAd),
        ...(JSON.parse(traceJson) as object),
      },
    };
  };
}
