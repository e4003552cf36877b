import { meter } from '@longwave/service-kit';
import type { BusLogger } from './bus-logger.ts';
import type { HeldMessage } from './deliver-in-order.ts';

/** Counts messages that became dead letters. Zero makes the series visible before the first dead letter, so that its first rise is seen. */
export function countDeadLetters(messages: number, topic: string, group: string): void {
  meter()
    .createCounter('longwave.follower.dead_letters', { description: 'Messages that this process gave up' })
    .add(messages, { topic, group });
}

/** Logs and counts a message that became a dead letter. */
export function reportDeadLetter(
  { topic, group, logger }: { readonly topic: string; readonly group: string; readonly logger: BusLogger | undefined },
  { message, tries }: HeldMessage,
): void {
  countDeadLetters(1, topic, group);
  logger?.warn({ topic, group, type: message.type, id: message.id, tries }, 'A message became a dead letter');
}
