import type { Resource } from '@longwave/command-catalog';
import { isResource } from '@longwave/command-catalog/typed-events';
import type { DeliveredMessage } from '@longwave/event-bus';
import { domainEventSchema, type DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { applyPlanRevision, type PlanRevision } from './published-plan-table.ts';

/** Consumers of all nodes together: each event is applied once, and every node reads the table. */
export const planFollowerGroup = 'internal-serving';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const compiled = z.object({
  digest: sha256,
  policies_digest: sha256.optional(),
  effective_from: z.iso.datetime(),
  published_at: z.iso.datetime().optional(),
});
const uncompiled = compiled.partial();

function revisionOf(
  event: DomainEvent,
  { lifecycle_state: lifecycleState, attributes }: Resource<'serving_plans'>,
): PlanRevision {
  const { digest, policies_digest, effective_from, published_at } = (
    lifecycleState === 'published' ? compiled : uncompiled
  ).parse(attributes);
  return {
    servingPlanId: event.subject.id,
    workspaceId: event.workspace_id,
    version: event.subject.version,
    lifecycleState,
    digest,
    policiesDigest: policies_digest,
    effectiveFrom: effective_from === undefined ? undefined : new Date(effective_from),
    occurredAt: new Date(event.occurred_at),
    publishedAt: published_at === undefined ? undefined : new Date(published_at),
  };
}

/** A handler for `product.events` that keeps `published_plan`. Throws on an event that lacks a required field. */
export function createPlanFollower(pool: Pool, onChanged: () => void) {
  return async (messages: readonly DeliveredMessage[]): Promise<void> => {
    const events = messages.map((message) => domainEventSchema.parse(message.payload));
    const plans = events.flatMap((event) =>
      isResource(event.after, 'serving_plans') ? [revisionOf(event, event.after)] : [],
    );
    for (const plan of plans) await applyPlanRevision(pool, plan);
    if (plans.length > 0) onChanged();
  };
}
