import { kafkaSecurity, type BusConfig } from '@longwave/service-kit';
import type { BusLogger } from './bus-logger.ts';
import type { KafkaBusConfig } from './kafka/kafka-bus.ts';
import { measureFollowers } from './measure-followers.ts';
import type { EventBus } from './port.ts';
import { createRedisBus, type RedisBusConfig } from './redis/redis-bus.ts';
import { traceMessages } from './trace-messages.ts';

export type EventBusConfig =
  ({ readonly kind: 'redis' } & RedisBusConfig) | ({ readonly kind: 'kafka' } & KafkaBusConfig);

/** The bus of the engine that the configuration names. Connects on first use. The client of Kafka is loaded only for Kafka. */
export async function createEventBus(config: EventBusConfig): Promise<EventBus> {
  if (config.kind === 'redis') return traceMessages(measureFollowers(createRedisBus(config)), 'redis_streams');
  const { createKafkaBus } = await import('./kafka/kafka-bus.ts');
  return traceMessages(measureFollowers(createKafkaBus(config)), 'kafka');
}

/** The bus of a service: Kafka when its configuration names brokers, else Redis Streams. Connects on first use. */
export function busFromConfig(
  config: BusConfig,
  { clientName, logger }: { readonly clientName: string; readonly logger?: BusLogger },
): Promise<EventBus> {
  const { KAFKA_BROKERS: brokers } = config;
  return createEventBus(
    brokers
      ? { kind: 'kafka', brokers, security: kafkaSecurity(config), clientId: clientName, logger }
      : { kind: 'redis', redisUrl: () => config.REDIS_URL, clientName, logger },
  );
}
