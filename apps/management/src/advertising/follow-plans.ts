import type { EventOf } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Supersession } from '../background/supersession.ts';
import type { Send } from '../background/send-as-management.ts';

interface Deps {
  readonly send: Send;
  readonly pool: Pool;
  readonly clock: () => Date;
}

/** Ends the plans that a published plan replaces, if it is in effect already; the clock ends them otherwise. */
export async function endSuperseded(
  superseded: Supersession,
  event: DomainEvent,
  { send, pool, clock }: Deps,
): Promise<void> {
  for (const due of await superseded.list(pool, event.workspace_id, clock(), 1000))
    await send(event, due.id, { type: superseded.command, id: due.id, changes: {} });
}

/** Publishes the content of a rollback's target again, as a new plan. */
export const republishTarget = (event: EventOf<'serving_plan.rolled_back'>, { send }: Deps): Promise<void> =>
  send(event, 'republish', {
    type: 'serving_plan.republish',
    id: null,
    // A rollback names its target.
    changes: { republishes: event.after.attributes.target_id! },
  });
