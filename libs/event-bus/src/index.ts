export type { BusLogger } from './bus-logger.ts';
export { archiveStreams } from './redis/archive-streams.ts';
export { busFromConfig, createEventBus, type EventBusConfig } from './create-event-bus.ts';
export type { BusMessage, DeliveredMessage, EventBus } from './port.ts';
export { createRedisBus } from './redis/redis-bus.ts';
export {
  belongsToSaved,
  loadStreams,
  notePlaces,
  savedLine,
  saveStreams,
  type SavedLine,
} from './redis/saved-streams.ts';
export { subscribeWhenReachable } from './subscribe-when-reachable.ts';
export { retryTransient } from './retry-transient.ts';
