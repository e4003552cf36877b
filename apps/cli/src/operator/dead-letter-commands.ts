import { busFromConfig, type EventBus } from '@longwave/event-bus';
import { needed, type CommandDescription, type CommandOption, type Options } from '../command.ts';

/** A command on the event bus, which may be an Apache Kafka without any fleet of this machine. It prints lines. */
export interface BusCommand extends CommandDescription {
  readonly runOnBus: (bus: EventBus, options: Options) => Promise<readonly string[]>;
}

const options: readonly CommandOption[] = [
  { name: 'topic', value: 'TOPIC', meaning: 'product.events, identity.events or delivery.facts' },
  { name: 'group', value: 'GROUP', meaning: 'service that consumes the topic, like management or analytics-sink' },
  {
    name: 'brokers',
    value: 'HOST:PORT',
    meaning: 'brokers of an Apache Kafka, separated by commas (default: the Redis of the running service)',
    optional: true,
  },
];

/** Events that a consumer failed to process. */
export const deadLetterCommands: readonly BusCommand[] = [
  {
    name: 'dead-letters list',
    summary: 'Lists the events that a consumer failed to process.',
    options,
    example: 'dead-letters list --topic product.events --group management',
    runOnBus: async (bus, typed) => {
      const group = needed(typed, 'group');
      const topic = needed(typed, 'topic');
      const letters = await bus.listDeadLetters(topic, group);
      if (letters.length === 0) return [`no dead letters of ${group} in ${topic}`];
      return letters.map(({ message: { id, type, key }, failedAt, error }) =>
        JSON.stringify({ id, type, key, failed_at: failedAt, error }),
      );
    },
  },
  {
    name: 'dead-letters redrive',
    summary: 'Sends the events that a consumer failed to process to it again.',
    options,
    example: 'dead-letters redrive --topic product.events --group management',
    runOnBus: async (bus, typed) => {
      const group = needed(typed, 'group');
      return [`sent ${await bus.redriveDeadLetters(needed(typed, 'topic'), group)} messages to ${group} again`];
    },
  },
];

/** The bus of `--brokers`, or else the running fleet's Redis. */
export const openBus = (brokers: string | undefined, redisUrl: string): Promise<EventBus> =>
  busFromConfig({ KAFKA_BROKERS: brokers?.split(','), REDIS_URL: redisUrl }, { clientName: 'operator' });
