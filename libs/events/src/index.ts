export { resourceViewSchema, type ResourceView } from './resource-view.ts';
export { domainEventSchema, topics, type DomainEvent } from './domain-event.ts';
export {
  addressVerdicts,
  byteRangeServedSchema,
  deliveryFactSchema,
  userAgentSeenSchema,
  type ByteRangeServed,
  type CountedPart,
  type DeliveryFact,
  type UserAgentSeen,
} from './delivery-fact.ts';
export { servingPlanSchema, type PlanLineItem, type ServingPlanDocument } from './serving-plan.ts';
