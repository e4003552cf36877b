import { z } from 'zod';
import { resourceViewSchema } from './resource-view.ts';

/**
 * The event of a committed command. `after` is the whole new revision, so a follower needs no other query and can skip an event whose version
 * it has already applied (docs/adr/0006).
 */
export const domainEventSchema = z.object({
  id: z.string(),
  /** `noun.participle`, declared by the command in the catalog. */
  type: z.string(),
  workspace_id: z.string(),
  subject: z.object({ type: z.string(), id: z.string(), version: z.int().min(1) }),
  operation_id: z.string(),
  occurred_at: z.string(),
  after: resourceViewSchema,
});

export type DomainEvent = z.infer<typeof domainEventSchema>;

/** Topics of the event bus, one per owner. */
export const topics = {
  product: 'product.events',
  identity: 'identity.events',
  exchange: 'exchange.events',
  deliveryFacts: 'delivery.facts',
  decisions: 'serving.decisions',
  opportunities: 'serving.opportunities',
} as const;
