import { isResource } from '@longwave/command-catalog';
import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { domainEventSchema, topics, type DomainEvent } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { saveAuthority } from '../authorities/authority-table.ts';
import { saveKey } from '../authorities/machine-key-table.ts';
import { saveIntent } from '../intents/intent-table.ts';
import { insertEvents } from '../messages/outbox-table.ts';
import { quarantineSignedBy } from '../streams/stream-table.ts';
import { saveAlias, saveHostedEpisode, saveHostedPodcast, saveSnapshot, saveSurface } from './resource-tables.ts';

/** Holds the streams back whose newest message a revoked key has signed: nobody knows who signed it. */
async function holdSignedBy(
  tx: Transaction,
  key: { readonly id: string; readonly workspaceId: string; readonly authorityId: string },
  now: Date,
): Promise<void> {
  const cause = `The key ${key.id}, which signed its newest message, was revoked.`;
  const held = await quarantineSignedBy(tx, key, cause, now);
  await insertEvents(
    tx,
    held.map((streamId) => ({
      type: 'stream.quarantined',
      workspaceId: key.workspaceId,
      key: `${key.workspaceId}/${streamId}`,
      detail: { stream_id: streamId, cause },
    })),
    now,
  );
}

/** Applies one event of management, once per version; events of one resource come in order. */
export async function applyProductEvent(tx: Transaction, event: DomainEvent): Promise<void> {
  const { after, workspace_id: workspaceId, occurred_at: occurredAt } = event;
  const { id, version, lifecycle_state: state } = after;
  const revision = { id, workspaceId, version, state };
  if (isResource(after, 'authority_grants')) {
    const { grantee, expires_at: expiresAt } = after.attributes;
    // Grants of people sign nothing.
    if ('client_id' in grantee) await saveAuthority(tx, { ...revision, clientId: grantee.client_id, expiresAt });
  } else if (isResource(after, 'machine_keys')) {
    const isNew = await saveKey(tx, revision, after.attributes);
    const key = { id, workspaceId, authorityId: after.attributes.authority_id };
    if (isNew && state === 'revoked') await holdSignedBy(tx, key, new Date(occurredAt));
  } else if (isResource(after, 'content_snapshots')) await saveSnapshot(tx, revision, after.attributes);
  else if (isResource(after, 'episodes')) {
    const { podcast_id: podcastId, snapshot_id: snapshotId } = after.attributes;
    if (snapshotId !== undefined) await saveHostedEpisode(tx, revision, { podcastId, snapshotId });
  } else if (isResource(after, 'podcasts')) {
    const { hosted_by: hostedBy } = after.attributes;
    if (hostedBy) await saveHostedPodcast(tx, revision, hostedBy);
  } else if (isResource(after, 'surface_capabilities')) await saveSurface(tx, revision, after.attributes);
  else if (isResource(after, 'delivery_aliases')) await saveAlias(tx, revision, after.attributes);
  else if (isResource(after, 'serving_intents'))
    await saveIntent(tx, { id, version, workspaceId, publishedAt: occurredAt }, after.attributes);
}

/** Keeps authorities, keys, mappings, what is hidden, surfaces, aliases and intents as management has them. */
export const followProduct = (options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly logger: Logger;
}): AsyncDisposable =>
  subscribeWhenReachable(options.bus, {
    topic: topics.product,
    group: 'hosting-exchange',
    handle: async (messages) => {
      const events = messages.map((message) => domainEventSchema.parse(message.payload));
      await transaction(options.pool, async (tx) => {
        for (const event of events) await applyProductEvent(tx, event);
      });
    },
    onRetry: (error) => options.logger.warn({ err: error, topic: topics.product }, 'follower.retried'),
  });
