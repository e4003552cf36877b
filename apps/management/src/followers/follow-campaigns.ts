import { findResource, listLinked } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { endedLineItemStates } from '../campaigns/campaign.ts';
import type { Send } from './send-as-management.ts';

/** What ends a line item, whatever it has come to: one that was booked and has delivered is paused before it is stopped. */
const steps = ['line_item.cancel', 'line_item.pause', 'line_item.stop'] as const;

/** A campaign was cancelled: its line items are cancelled, or stopped where they have begun. Then the operation has succeeded. */
export async function endLineItems(event: DomainEvent, send: Send, pool: Pool): Promise<void> {
  const { workspace_id: workspaceId, subject } = event;
  const changes = { cause: event.after.state_reason ?? 'The campaign was cancelled.' };
  const isOpen = async (id: string) => {
    const row = await findResource(pool, workspaceId, 'line_items', id);
    return row !== undefined && !endedLineItemStates.includes(row.lifecycle_state);
  };
  for (const { id } of await listLinked(pool, workspaceId, 'line_items', 'campaign', subject.id))
    for (const commandType of steps)
      if (await isOpen(id)) await send(event, id, { commandType, subject: { type: 'line_items', id }, changes });
  await send(event, 'complete', {
    commandType: 'campaign.complete_cancel',
    subject: { type: 'campaigns', id: subject.id },
    changes: {},
  });
}
