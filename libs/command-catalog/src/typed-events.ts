import type { DomainEvent, ResourceView } from '@longwave/events';
import type { EventOf, EventType, Resource, ResourceType } from './types.ts';

/** Whether a resource is of this type; its owner has checked state and attributes when it stored them. */
export const isResource = <T extends ResourceType>(view: ResourceView, type: T): view is Resource<T> =>
  view.resource_type === type;

/** The resource with the state and the attributes of its type. Throws when it is of another type. */
export function typedResource<T extends ResourceType>(view: ResourceView, type: T): Resource<T> {
  if (!isResource(view, type)) throw new Error(`${view.id} is of type ${view.resource_type}, not ${type}`);
  return view;
}

/** Whether an event is of this type. */
export const isEvent = <E extends EventType>(event: DomainEvent, type: E): event is EventOf<E> => event.type === type;

/** A follower's reactions by event type; a type that no catalog declares does not compile. */
export type Reactions<R> = { readonly [E in EventType]?: (event: EventOf<E>) => R };

/** Calls the reaction to an event's type; undefined when there is none. */
export function reactTo<R>(reactions: Reactions<R>, event: DomainEvent): R | undefined {
  if (!Object.hasOwn(reactions, event.type)) return undefined;
  // TypeScript does not follow that an event of this type is what the reaction under this type takes.
  const react = reactions[event.type as EventType] as (event: DomainEvent) => R;
  return react(event);
}
