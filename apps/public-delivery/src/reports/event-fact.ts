import { deliveryEventFactId, type DeliveryEvent } from '@longwave/events';
import type { Listener } from '../listeners/identify-listener.ts';
import type { Serving } from './serving-table.ts';
import type { Report } from './read-report.ts';

/** A report as a fact. The report gives event, sequence and time; everything else was stored with the decision. */
export function eventFact(
  { ad, ...serving }: Serving,
  { event, sequence, reportedAt }: Report,
  late: boolean,
  reporter: Listener,
  at: Date,
  listsVersion: string,
): DeliveryEvent {
  return {
    kind: 'delivery_event',
    fact_id: deliveryEventFactId(ad.serving_id, event, sequence),
    ...{ serving_id: ad.serving_id, event, sequence, at: at.toISOString(), late },
    ...(reportedAt !== undefined && { reported_at: reportedAt }),
    ...{ workspace_id: serving.workspaceId, podcast_id: serving.podcastId, episode_id: serving.episodeId },
    ...{ campaign_id: ad.campaign_id, line_item_id: ad.line_item_id, creative_id: ad.creative_id },
    ...{ break_key: ad.break_key, slot: ad.slot, listener_key: serving.listenerKey },
    ...(serving.adDurationMs !== undefined && { ad_duration_ms: serving.adDurationMs }),
    address_verdict: reporter.addressVerdict,
    user_agent_digest: reporter.userAgentDigest,
    ...{ country: reporter.country, region: reporter.region, lists_version: listsVersion },
  };
}
