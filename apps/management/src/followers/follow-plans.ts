import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { listSupersededBreakPlans, supersedeBreakPlan } from '../break-plans/superseded-break-plans.ts';
import { listSupersededServingPlans, supersedeServingPlan } from '../serving-plans/superseded-serving-plans.ts';
import type { Send } from './send-as-management.ts';

interface Means {
  readonly send: Send;
  readonly pool: Pool;
  readonly clock: () => Date;
}

/** Serving plans published before one that is in effect end; the clock ends them where it comes into effect later. */
export async function supersedeEarlierServingPlans(event: DomainEvent, { send, pool, clock }: Means): Promise<void> {
  for (const { id } of await listSupersededServingPlans(pool, event.workspace_id, clock(), 1000))
    await send(event, id, supersedeServingPlan(id));
}

/** Break plans whose inventory a published one covers end at once when it holds already; the clock ends them otherwise. */
export async function supersedeCoveredBreakPlans(event: DomainEvent, { send, pool, clock }: Means): Promise<void> {
  for (const { id } of await listSupersededBreakPlans(pool, event.workspace_id, clock(), 1000))
    await send(event, id, supersedeBreakPlan(id));
}

/** What the target of a rollback contained is published again, as a plan of its own. */
export const republishTarget = (event: DomainEvent, { send }: Means): Promise<void> =>
  send(event, 'republish', {
    commandType: 'serving_plan.republish',
    subject: { type: 'serving_plans', id: null },
    changes: { republishes: event.after.attributes['target_id'] },
  });
