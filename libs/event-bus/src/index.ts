export type { BusLogger } from './bus-logger.ts';
export { archiveStreams, type ArchivedTopic, type StreamArchiverOptions } from './redis/archive-streams.ts';
export { busFromConfig, createEventBus, type EventBusConfig } from './create-event-bus.ts';
export { createKafkaBus, type KafkaBusConfig } from './kafka/kafka-bus.ts';
export type {
  BusMessage,
  DeadLetter,
  DeliveredMessage,
  EventBus,
  RetryPolicy,
  SubscribeOptions,
  Subscription,
} from './port.ts';
export { createRedisBus, type RedisBusConfig } from './redis/redis-bus.ts';
export { subscribeWhenReachable, type FollowerOptions } from './subscribe-when-reachable.ts';
export { retryTransient } from './retry-transient.ts';
