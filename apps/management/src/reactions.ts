import { isEvent, isResource, reactTo, type EventOf, type Reactions } from '@longwave/command-catalog';
import { subscribeWhenReachable, type DeliveredMessage, type EventBus } from '@longwave/event-bus';
import type { RunApproved } from '@longwave/command-pipeline';
import { domainEventSchema, topics, type DomainEvent } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { supersededBreakPlans } from './advertising/break-plans/superseded-break-plans.ts';
import { saveEncodingLimit } from './hosting/productions/encoding-balance-table.ts';
import { renewPolicies } from './advertising/serving-plans/renew-policies.ts';
import { supersededPolicies } from './workspace/policies/policy-tasks.ts';
import { supersededServingPlans } from './advertising/serving-plans/superseded-serving-plans.ts';
import { exchangeReactions } from './exchange/exchange-reactions.ts';
import { isOfPlatform } from './exchange/content/follow-snapshots.ts';
import { intentReactions } from './exchange/intents/mark-intents.ts';
import type { Logger } from '@longwave/service-kit';
import { revokeKeys } from './workspace/authority/revoke-keys.ts';
import { keepPeople, peopleFollowerGroup } from './workspace/people/follow-people.ts';
import { pacingPlanReactions } from './commerce/forecasts/queue-pacing-plans.ts';
import { removeKeptFiles } from './commerce/reconciliations/match-reconciliation.ts';
import { shortfallReactions } from './commerce/makegoods/shortfall-table.ts';
import { closeWorkspace } from './workspace/workspaces/close-workspace.ts';
import { deleteClips, recordClip } from './hosting/media-clips/follow-clips.ts';
import { adTrackReactions } from './advertising/creatives/follow-hls.ts';
import { endLineItems } from './advertising/campaigns/follow-campaigns.ts';
import { endSuperseded, republishTarget } from './advertising/follow-plans.ts';
import { submissionReactions } from './hosting/platforms/follow-submissions.ts';
import { trackFollowerGroup, trackReactions } from './hosting/productions/follow-tracks.ts';
import { attachAndPublish, endFaultyUpload, stopEncodings } from './hosting/productions/follow-productions.ts';
import { markFilesReceived, removeObject } from './workspace/uploads/follow-uploads.ts';
import { noticeDisabled } from './workspace/webhooks/notice-disabled.ts';
import { removeReportFiles } from './workspace/reports/report-files.ts';
import type { Send } from './background/send-as-management.ts';

const byEach = (handle: (event: DomainEvent) => Promise<void>) => async (messages: readonly DeliveredMessage[]) => {
  for (const message of messages) await handle(domainEventSchema.parse(message.payload));
};

/** What ends with a workspace or an authority grant. */
const authorityReactions = (send: Send, pool: Pool): Reactions<Promise<void>> => ({
  'authority_grant.revoked': (event) => revokeKeys(event, send, pool),
  'authority_grant.expired': (event) => revokeKeys(event, send, pool),
  'workspace.close_requested': (event) => closeWorkspace(event, send, pool),
});

/** What plans and policies do to one another. */
function planReactions(plans: {
  readonly send: Send;
  readonly pool: Pool;
  readonly clock: () => Date;
}): Reactions<Promise<void>> {
  /** Policies that came into force between the reading of the policies and the publication were not seen by either. */
  async function planPublished(event: EventOf<'serving_plan.published' | 'serving_plan.republished'>): Promise<void> {
    await endSuperseded(supersededServingPlans, event, plans);
    await renewPolicies(event, plans);
  }
  return {
    'serving_plan.published': planPublished,
    'serving_plan.republished': planPublished,
    'serving_plan.policies_renewed': (event) => endSuperseded(supersededServingPlans, event, plans),
    'policy.activated': async (event) => {
      await endSuperseded(supersededPolicies, event, plans);
      await renewPolicies(event, plans);
    },
    'policy.superseded': (event) => renewPolicies(event, plans),
    'policy.retired': (event) => renewPolicies(event, plans),
    'serving_plan.rolled_back': (event) => republishTarget(event, plans),
    'break_plan.published': (event) => endSuperseded(supersededBreakPlans, event, plans),
  };
}

/** Keeps the encoding time of an account's plan, and opens the workspace of a new account. */
async function followAccount(event: DomainEvent, send: Send, pool: Pool): Promise<void> {
  const { after } = event;
  if (!isResource(after, 'accounts')) return;
  const { name, encoding_ms_per_month: limit } = after.attributes;
  await saveEncodingLimit(pool, event.workspace_id, limit, event.subject.version);
  if (isEvent(event, 'account.created'))
    await send(event, 'provision', {
      type: 'workspace.provision',
      id: event.workspace_id,
      changes: { name, account_id: event.subject.id },
    });
}

/** Follows management's own events and those of auth-server. Every reaction is a command or an idempotent projection. */
export function followEvents(options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly send: Send;
  /** Executes a command that a review approved. */
  readonly runApproved: RunApproved;
  readonly logger: Logger;
  readonly clock: () => Date;
}): AsyncDisposable[] {
  const { bus, pool, store, send, logger, clock } = options;

  const filesUsed = (event: DomainEvent) => markFilesReceived(event, { send, pool, store });
  const reactions: Reactions<Promise<void>> = {
    'podcast.created': filesUsed,
    'podcast.revised': filesUsed,
    'podcast.intro_set': filesUsed,
    'podcast.outro_set': filesUsed,
    'episode.created': filesUsed,
    'episode.revised': filesUsed,
    'episode.chapters_set': filesUsed,
    'production.created': filesUsed,
    'production.derived': filesUsed,
    'production.revised': async (event) => {
      await filesUsed(event);
      await deleteClips(event, send, pool);
    },
    'production.encoded': async (event) => {
      // A version of another platform publishes its audio, and nobody here uses it for itself.
      if (isOfPlatform(event)) return;
      await attachAndPublish(event, { send, pool, clock });
      await recordClip(event, send, pool);
    },
    'batch_encoding.cancelled': (event) => stopEncodings(event, send, pool),
    'production.failed': (event) => endFaultyUpload(event, send, pool),
    'media_clip.registered': filesUsed,
    'creative.media_attached': filesUsed,
    'report_run.cancelled': (event) => removeReportFiles(store, event.subject.id),
    'report_run.failed': (event) => removeReportFiles(store, event.subject.id),
    'report_run.expired': (event) => removeReportFiles(store, event.subject.id),
    'reconciliation.cancelled': (event) => removeKeptFiles(store, event.subject.id),
    'upload.aborted': (event) => removeObject(event, store),
    'upload.expired': (event) => removeObject(event, store),
    ...planReactions({ send, pool, clock }),
    'campaign.cancelled': (event) => endLineItems(event, send, pool),
    'review.approved': (event) => options.runApproved(event.workspace_id, event.subject.id),
    'webhook_endpoint.disabled': (event) => noticeDisabled(event, { pool, clock }),
    ...authorityReactions(send, pool),
    ...shortfallReactions(pool),
  };

  const exchange = exchangeReactions({ send, pool, clock });
  const intents = intentReactions({ pool, clock });
  const pacingPlans = pacingPlanReactions({ pool, clock });
  const tracks = trackReactions(send, pool);
  const adTracks = adTrackReactions(send, pool);
  const submissions = submissionReactions(send, pool);
  async function onProduct(event: DomainEvent): Promise<void> {
    await reactTo(reactions, event);
    await reactTo(exchange, event);
    await reactTo(intents, event);
    await reactTo(pacingPlans, event);
  }
  async function onTracks(event: DomainEvent): Promise<void> {
    await reactTo(tracks, event);
    await reactTo(adTracks, event);
    await reactTo(submissions, event);
  }

  const follow = (topic: string, react: (event: DomainEvent) => Promise<void>, group = 'management') =>
    subscribeWhenReachable(bus, {
      topic,
      group,
      oneByOne: true,
      handle: byEach(react),
      onRetry: (error) => logger.warn({ err: error, topic }, 'follower.retried'),
    });
  return [
    follow(topics.product, onProduct),
    follow(topics.product, onTracks, trackFollowerGroup),
    follow(topics.identity, (event) => followAccount(event, send, pool)),
    follow(topics.identity, (event) => keepPeople(pool, event), peopleFollowerGroup),
  ];
}
