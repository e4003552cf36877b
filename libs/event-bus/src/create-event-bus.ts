import { createKafkaBus, type KafkaBusConfig } from './kafka/kafka-bus.ts';
import type { EventBus } from './port.ts';
import { createRedisBus, type RedisBusConfig } from './redis/redis-bus.ts';

export type EventBusConfig =
  ({ readonly kind: 'redis' } & RedisBusConfig) | ({ readonly kind: 'kafka' } & KafkaBusConfig);

/** The bus of the engine that the configuration names. Connects on first use. */
export function createEventBus(config: EventBusConfig): EventBus {
  return config.kind === 'redis' ? createRedisBus(config) : createKafkaBus(config);
}
