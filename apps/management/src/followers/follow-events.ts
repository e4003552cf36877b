import { subscribePatiently, type DeliveredMessage, type EventBus, type Subscription } from '@longwave/event-bus';
import { listInStates } from '@longwave/command-pipeline';
import { domainEventSchema, topics, type DomainEvent } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { saveEncodingLimit } from '../productions/encoding-balance-table.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Logger } from '@longwave/service-kit';
import { attachAndPublish, endFaultyUpload, markReceived } from './follow-productions.ts';
import type { Send } from './send-as-management.ts';

const byEach = (handle: (event: DomainEvent) => Promise<void>) => async (messages: readonly DeliveredMessage[]) => {
  for (const message of messages) await handle(domainEventSchema.parse(message.payload));
};

/** What management does about its own events and those of auth-server. Every reaction is a command or an idempotent projection. */
export async function followEvents(options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly send: Send;
  readonly logger: Logger;
  readonly clock: () => Date;
}): Promise<Subscription[]> {
  const { bus, pool, store, send, logger, clock } = options;

  /** Plans published before this one end, once this one is in effect; until then they go on serving. */
  async function supersedeOlder(event: DomainEvent): Promise<void> {
    const { effective_from: effectiveFrom } = event.after.attributes as { effective_from: string };
    if (Date.parse(effectiveFrom) > clock().getTime()) return;
    for (const plan of await listInStates(pool, event.workspace_id, 'serving_plans', ['published']))
      if (plan.id !== event.subject.id && plan.updated_at.getTime() < Date.parse(event.occurred_at))
        await send(event, plan.id, {
          commandType: 'serving_plan.supersede',
          subject: { type: 'serving_plans', id: plan.id },
          changes: {},
        });
  }

  async function removeObject(event: DomainEvent): Promise<void> {
    const { storage_key: key, multipart } = event.after.attributes as Upload;
    await store.remove(key);
    if (multipart) await store.abortMultipartUpload(key, multipart.multipart_upload_id).catch(() => undefined);
  }

  const reactions: Readonly<Record<string, (event: DomainEvent) => Promise<void>>> = {
    'production.created': (event) => markReceived(event, send),
    'production.encoded': (event) => attachAndPublish(event, send, pool),
    'production.failed': (event) => endFaultyUpload(event, send),
    'upload.aborted': removeObject,
    'serving_plan.published': supersedeOlder,
  };

  async function onProduct(event: DomainEvent): Promise<void> {
    if (Object.hasOwn(reactions, event.type)) await reactions[event.type]!(event);
  }

  async function onIdentity(event: DomainEvent): Promise<void> {
    if (event.subject.type !== 'accounts') return;
    const { name, encoding_ms_per_month: limit } = event.after.attributes as {
      name: string;
      encoding_ms_per_month: number | null;
    };
    await saveEncodingLimit(pool, event.workspace_id, limit, event.subject.version);
    if (event.type === 'account.created')
      await send(event, 'provision', {
        commandType: 'workspace.provision',
        subject: { type: 'workspaces', id: event.workspace_id },
        changes: { name, account_id: event.subject.id },
      });
  }

  const follow = (topic: string, react: (event: DomainEvent) => Promise<void>) =>
    subscribePatiently(bus, {
      topic,
      group: 'management',
      handle: byEach(react),
      onRetry: (error) => logger.warn({ err: error, topic }, 'follower.retried'),
    });
  return [await follow(topics.product, onProduct), await follow(topics.identity, onIdentity)];
}
