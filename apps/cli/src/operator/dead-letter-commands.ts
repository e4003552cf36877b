import type { BusLogger, EventBus } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import type { FleetAccess } from '@longwave/fleet/running';
import { didYouMean } from '@longwave/service-kit/nearest';
import { UsageError, type CommandDescription, type CommandOption, type Options } from '../command.ts';
import type { Follower } from '../status/check-lags.ts';

/** A command on the event bus, which may be an Apache Kafka without any fleet of this machine. */
export interface BusCommand extends CommandDescription {
  /** The result for each follower. */
  readonly runOnBus: (bus: EventBus, followers: readonly Follower[]) => Promise<readonly FollowerResult[]>;
  /** The lines that people read. */
  readonly linesOf: (result: FollowerResult) => readonly string[];
}

interface FollowerResult extends Follower {
  readonly dead_letters?: readonly object[];
  /** Number of messages. */
  readonly sent_again?: number;
}

const options: readonly CommandOption[] = [
  {
    name: 'topic',
    value: 'TOPIC',
    meaning:
      'product.events, identity.events, exchange.events, delivery.facts, serving.decisions or serving.opportunities (default: all)',
    optional: true,
  },
  {
    name: 'group',
    value: 'GROUP',
    meaning: 'group that follows the topic, like management or analytics-sink (default: all that run)',
    optional: true,
  },
  {
    name: 'brokers',
    value: 'HOST:PORT',
    meaning:
      'brokers of an Apache Kafka, separated by commas, with KAFKA_TLS and the login in variables (default: the bus of the running service)',
    optional: true,
  },
];

/**
 * The followers that `--topic` and `--group` name: exactly one with both, else those that run and fit. Throws for an unknown
 * topic.
 * @param findRunning asked when one of them is missing
 */
export async function chooseFollowers(
  { topic, group }: Options,
  findRunning: () => Promise<readonly Follower[]>,
): Promise<readonly Follower[]> {
  const known: readonly string[] = Object.values(topics);
  if (topic !== undefined && !known.includes(topic))
    throw new UsageError(`There is no topic “${topic}”.${didYouMean(topic, known)}`);
  if (topic !== undefined && group !== undefined) return [{ topic, group }];
  const found = (await findRunning()).filter(
    (each) => (topic ?? each.topic) === each.topic && (group ?? each.group) === each.group,
  );
  if (found.length === 0)
    throw new Error('No follower that runs fits. Name one that is away with both --topic and --group.');
  return found;
}

async function listLetters(bus: EventBus, { topic, group }: Follower): Promise<FollowerResult> {
  const letters = await bus.listDeadLetters(topic, group);
  return {
    ...{ topic, group },
    dead_letters: letters.map(({ message: { id, type, key }, failedAt, error }) => ({
      ...{ id, type, key, failed_at: failedAt, error },
    })),
  };
}

/** Events that a consumer failed to process. */
export const deadLetterCommands: readonly BusCommand[] = [
  {
    name: 'dead-letters list',
    summary: 'Lists the events that a consumer failed to process.',
    options,
    example: 'dead-letters list --topic product.events --group management',
    runOnBus: (bus, followers) => Promise.all(followers.map((follower) => listLetters(bus, follower))),
    linesOf: ({ topic, group, dead_letters: letters = [] }) =>
      letters.length === 0
        ? [`no dead letters of ${group} in ${topic}`]
        : letters.map((letter) => JSON.stringify({ topic, group, ...letter })),
  },
  {
    name: 'dead-letters redrive',
    summary: 'Sends the events that a consumer failed to process to it again.',
    options,
    example: 'dead-letters redrive --topic product.events --group management',
    runOnBus: (bus, followers) =>
      Promise.all(
        followers.map(async ({ topic, group }) => ({
          ...{ topic, group },
          sent_again: await bus.redriveDeadLetters(topic, group),
        })),
      ),
    linesOf: ({ topic, group, sent_again: sent }) => [`sent ${sent} messages of ${topic} to ${group} again`],
  },
];

/** The way to a bus: the brokers of a Kafka, or else a Redis. */
export type BusAccess = Pick<FleetAccess, 'redisUrl' | 'kafkaBrokers' | 'kafkaSecurity'>;

/** The bus of brokers that belong to no fleet of this machine; the environment says how to connect to them. */
export function brokersOf(brokers: string, environment: NodeJS.ProcessEnv): BusAccess {
  const { KAFKA_TLS, KAFKA_SASL_MECHANISM, KAFKA_USERNAME, KAFKA_PASSWORD } = environment;
  const kafkaSecurity = { KAFKA_TLS, KAFKA_SASL_MECHANISM, KAFKA_USERNAME, KAFKA_PASSWORD };
  return { redisUrl: '', kafkaBrokers: brokers, kafkaSecurity };
}

/** Opens a bus as the operator. Throws `ConfigError`. */
export async function openBus(
  { redisUrl, kafkaBrokers, kafkaSecurity }: BusAccess,
  logger?: BusLogger,
): Promise<EventBus> {
  const [{ busFromConfig }, { readKafkaConfig }] = await Promise.all([
    import('@longwave/event-bus'),
    import('@longwave/service-kit'),
  ]);
  const kafka = kafkaBrokers === undefined ? {} : { KAFKA_BROKERS: kafkaBrokers, ...kafkaSecurity };
  const config = { ...readKafkaConfig(kafka), REDIS_URL: redisUrl };
  return busFromConfig(config, { clientName: 'operator', ...(logger && { logger }) });
}
