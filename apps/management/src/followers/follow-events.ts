import type { DeliveredMessage, EventBus, Subscription } from '@longwave/event-bus';
import { findResource, listInStates } from '@longwave/command-pipeline';
import { domainEventSchema, topics, type DomainEvent } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { saveEncodingLimit } from '../productions/encoding-balance-table.ts';
import type { Upload } from '../uploads/upload.ts';
import { attachAndPublish, removeFaultySource } from './follow-productions.ts';
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
}): Promise<Subscription[]> {
  const { bus, pool, store, send } = options;

  const readUpload = async (workspaceId: string, id: string) =>
    (await findResource(pool, workspaceId, 'uploads', id))?.attributes as Upload | undefined;

  async function supersedeOlder(event: DomainEvent): Promise<void> {
    const published = await listInStates(pool, event.workspace_id, 'serving_plans', ['published']);
    const newer = published.findIndex((plan) => plan.id === event.subject.id);
    for (const plan of published.slice(0, Math.max(newer, 0)))
      await send(event, plan.id, {
        commandType: 'serving_plan.supersede',
        subject: { type: 'serving_plans', id: plan.id },
        changes: {},
      });
  }

  async function onProduct(event: DomainEvent): Promise<void> {
    if (event.type === 'production.encoded') return attachAndPublish(event, send);
    if (event.type === 'production.failed') return removeFaultySource(event, send, store, readUpload);
    if (event.type === 'serving_plan.published') return supersedeOlder(event);
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

  return [
    await bus.subscribe({ topic: topics.product, group: 'management', handle: byEach(onProduct) }),
    await bus.subscribe({ topic: topics.identity, group: 'management', handle: byEach(onIdentity) }),
  ];
}
