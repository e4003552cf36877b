import { listInStates } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { listSupersededBreakPlans, supersedeBreakPlan } from '../break-plans/superseded-break-plans.ts';
import type { Send } from './send-as-management.ts';

interface Means {
  readonly send: Send;
  readonly pool: Pool;
  readonly clock: () => Date;
}

/** Serving plans published before this one end, once this one is in effect; until then they go on serving. */
export async function supersedeServingPlans(event: DomainEvent, { send, pool, clock }: Means): Promise<void> {
  const { effective_from: effectiveFrom } = event.after.attributes as { effective_from: string };
  if (Date.parse(effectiveFrom) > clock().getTime()) return;
  for (const plan of await listInStates(pool, event.workspace_id, 'serving_plans', ['published']))
    if (plan.id !== event.subject.id && plan.updated_at.getTime() < Date.parse(event.occurred_at))
      await send(event, plan.id, {
        commandType: 'serving_plan.supersede',
        subject: { type: 'serving_plans', id: plan.id },
        changes: {},
      });
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
