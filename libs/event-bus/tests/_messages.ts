import { randomUUID } from 'node:crypto';
import type { BusMessage, DeliveredMessage, EventBus } from '../src/index.ts';

export const quick = { attempts: 3, deaths: 3, initialDelayMs: 20, maxDelayMs: 100 };

/** A topic that no other test uses. */
export function newTopic(): string {
  return `test.${randomUUID().slice(0, 8)}`;
}

/** Messages with round-robin keys and ascending ids. */
export function numbered(topic: string, count: number, keys: number, prefix = 'm'): BusMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    ...{
      topic,
      key: `key-${i % keys}`,
      id: `${prefix}-${String(i).padStart(6, '0')}`,
      type: 'thing.counted',
      payload: { number: i },
    },
  }));
}

export function subscribeInto(bus: EventBus, topic: string, group: string, seen: DeliveredMessage[], retry = quick) {
  return bus.subscribe({ topic, group, retry, handle: async (messages) => void seen.push(...messages) });
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Every second message was made in a trace. */
export const inTrace = (message: BusMessage, at: number): BusMessage =>
  at % 2 === 0 ? message : { ...message, traceparent };

/** Where in a trace each message was made, by its id. */
export const placesOf = (messages: readonly BusMessage[]): Record<string, string | undefined> =>
  Object.fromEntries(messages.map(({ id, traceparent: place }) => [id, place]));

export function distinct(messages: readonly BusMessage[]): number {
  return new Set(messages.map(({ id }) => id)).size;
}

/** Ids by key in the order of their first appearance: what is left after a consumer dropped repetitions. */
export function firstsByKey(messages: readonly BusMessage[]): Record<string, string[]> {
  const byKey = Object.groupBy(messages, ({ key }) => key);
  return Object.fromEntries(
    Object.entries(byKey).map(([key, of]) => [key, [...new Set((of ?? []).map(({ id }) => id))]]),
  );
}
