import { z } from 'zod';
import { resourceViewSchema } from './resource-view.ts';

/**
 * What a committed command says to the rest of the house. `after` is the whole new revision, so a follower needs no
 * second question and can skip any event whose version it has already applied.
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
  deliveryFacts: 'delivery.facts',
  decisions: 'serving.decisions',
} as const;
