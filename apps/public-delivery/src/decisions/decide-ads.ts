import type { UserAgentDescription } from '@longwave/audience';
import type { DecideRequest } from '@longwave/rpc/serving';
import { meter, type Logger } from '@longwave/service-kit';
import type { Listener } from '../listeners/identify-listener.ts';
import type { HaltScope } from '../projection/break-plan.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import { within } from '../segments/within.ts';
import { decideRequest } from './decide-request.ts';
import { decide, noDecisionReasons, type Decision, type ServingClient } from './decide.ts';
import { haltsAll, withoutHalted } from './halts.ts';
import { keepAds, noAds, type PlayAds } from './play-ads.ts';

/** An ad that the cache does not have by then is left out. */
const segmentWaitMs = 2_000;
/** More plays than this do not wait for decisions at once: they would only make all of them late. */
const maxAsked = 128;

export interface DecideAdsOptions {
  readonly serving: ServingClient;
  readonly projection: Pick<RecentProjection, 'getAdContext'>;
  readonly segments: Pick<SegmentCache, 'fetch'>;
  readonly describe: (userAgent: string) => UserAgentDescription;
  readonly deadlineMs: number;
  readonly logger: Logger;
}

export type DecideAds = (
  decisionId: string,
  episode: PlayableEpisode,
  listener: Listener,
  halts: readonly HaltScope[],
  at: Date,
  requestId: string,
) => Promise<PlayAds>;

/**
 * Asks for the ads of one play and fetches their segments. A play without a decision, one that a halt covers, and one of an episode that
 * shall have no ads, has none; of the last nothing is asked. Rejects only when the database does not answer.
 */
export function createDecideAds(options: DecideAdsOptions): DecideAds {
  const { serving, projection, segments, describe, deadlineMs, logger } = options;
  const missed = meter().createCounter('longwave.delivery.decisions_missed', {
    description: 'Plays that began without ads because no decision could be used',
  });
  for (const reason of noDecisionReasons) missed.add(0, { reason });
  let asked = 0;

  async function ask(request: DecideRequest): Promise<Decision> {
    if (asked >= maxAsked) return { decided: false, reason: 'overloaded' };
    asked += 1;
    return decide(serving, request, deadlineMs).finally(() => (asked -= 1));
  }

  /** The decision without the ads that the cache does not get in time; no decision when it gets none of them. */
  async function onlyCachedAds(decision: Decision, requestId: string): Promise<Decision> {
    if (!decision.decided) return decision;
    const slots = decision.breaks.flatMap((each) => each.ads);
    const fetched = slots.map(({ slot, digest, sizeBytes }) =>
      within(segmentWaitMs, segments.fetch(digest, sizeBytes)).then(
        () => [slot],
        () => [],
      ),
    );
    const cached = new Set((await Promise.all(fetched)).flat());
    if (cached.size === 0 && slots.length > 0) return { decided: false, reason: 'segment_unavailable' };
    if (cached.size < slots.length)
      logger.warn({ request_id: requestId, left_out: slots.length - cached.size }, 'decision.segments_unavailable');
    return { decided: true, ...keepAds(decision, (slot) => cached.has(slot)) };
  }

  return async (decisionId, episode, listener, halts, at, requestId) => {
    const { podcastId, episodeId, withoutAds } = episode;
    if (withoutAds || haltsAll(halts, podcastId)) return noAds;
    const context = await projection.getAdContext(episode, at);
    const request = decideRequest(decisionId, episode, context, listener, describe(listener.userAgent), at);
    const decision = await onlyCachedAds(await ask(request), requestId);
    if (decision.decided) return withoutHalted(decision, halts, podcastId);
    const { reason, error: err } = decision;
    // Under too great a load each line would add to it; the counter tells.
    if (reason !== 'overloaded')
      logger.warn({ request_id: requestId, episode_id: episodeId, reason, err }, 'decision.unavailable');
    missed.add(1, { reason });
    return noAds;
  };
}
