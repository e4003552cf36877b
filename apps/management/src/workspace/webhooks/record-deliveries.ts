import {
  operationEnded,
  productCatalog,
  webhookTypeOf,
  type CommandDefinition,
  type WebhookMessage,
} from '@longwave/command-catalog';
import { subscribeWhenReachable, type DeliveredMessage, type EventBus } from '@longwave/event-bus';
import { domainEventSchema, topics, type DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { insertDeliveries, listSubscriptions, type NewDelivery, type Subscription } from './delivery-table.ts';
import { listEndedBy } from './ended-operation-table.ts';
import { renderEvent, renderOperation, type ApiRoots } from './webhook-message.ts';

/** Commands whose operation outlives the first answer. */
const asyncCommands = Object.values<CommandDefinition>(productCatalog.commands).flatMap(({ type, mode }) =>
  mode === 'async' ? [type] : [],
);

export interface RecordOptions {
  readonly pool: Pool;
  readonly roots: ApiRoots;
  readonly clock: () => Date;
}

/** A message for each of these endpoints. One is told of what occurs after it was made; a disabled one can ask for it later. */
export const deliveriesTo = (message: WebhookMessage, chosen: readonly Subscription[]): NewDelivery[] =>
  chosen
    .filter(({ created_at }) => created_at.getTime() <= Date.parse(message.timestamp))
    .map(({ id, lifecycle_state: state }) => ({
      ...{ endpointId: id, message },
      ...(state === 'disabled' && { problem: 'endpoint_disabled' }),
    }));

/** Queues, for each endpoint that has chosen them, the messages about events. An event that comes again queues nothing. */
async function recordDeliveries({ pool, roots, clock }: RecordOptions, events: readonly DomainEvent[]): Promise<void> {
  const workspaces = [...new Set(events.map(({ workspace_id }) => workspace_id))];
  const subscriptions = await listSubscriptions(pool, workspaces);
  if (subscriptions.length === 0) return;
  const deliveries: NewDelivery[] = [];

  for (const event of events) {
    const own = subscriptions.filter(({ workspace_id }) => workspace_id === event.workspace_id);
    const choosing = (type: string) => own.filter(({ events: chosen }) => chosen.includes(type));
    const forEvent = choosing(webhookTypeOf(event.type));
    if (forEvent.length > 0) deliveries.push(...deliveriesTo(renderEvent(event, roots), forEvent));
    const forOperations = choosing(operationEnded);
    if (forOperations.length === 0) continue;
    for (const operation of await listEndedBy(pool, event, asyncCommands))
      deliveries.push(...deliveriesTo(renderOperation(event, operation, roots), forOperations));
  }
  await insertDeliveries(pool, deliveries, clock());
}

/** Follows management's own events in a group of its own, so that webhooks and reactions do not wait for each other. */
export const followForWebhooks = (
  options: RecordOptions & {
    readonly bus: EventBus;
    readonly logger: Logger;
    /** Called when deliveries may be due. */
    readonly onRecorded: () => void;
  },
): AsyncDisposable =>
  subscribeWhenReachable(options.bus, {
    topic: topics.product,
    group: 'management.webhooks',
    handle: async (messages: readonly DeliveredMessage[]) => {
      await recordDeliveries(
        options,
        messages.map(({ payload }) => domainEventSchema.parse(payload)),
      );
      options.onRecorded();
    },
    onRetry: (error) => options.logger.warn({ err: error, topic: topics.product }, 'webhooks.follower_retried'),
  });
