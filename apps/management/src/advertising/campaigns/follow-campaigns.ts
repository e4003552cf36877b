import { findResource, listLinked } from '@longwave/command-pipeline';
import type { EventOf, StateOf } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { endedLineItemStates } from './campaign.ts';
import type { Send } from '../../background/send-as-management.ts';

type EndingCommand = 'line_item.cancel' | 'line_item.pause' | 'line_item.stop';

/** What ends a line item, by its state; the second is for one that has delivered, which is not cancelled but stopped. */
const cancelCommands: { readonly [S in StateOf<'line_items'>]?: readonly EndingCommand[] } = {
  booked: ['line_item.cancel', 'line_item.pause'],
  paused: ['line_item.cancel', 'line_item.stop'],
  delivering: ['line_item.stop'],
  delivery_extended: ['line_item.stop'],
};
/** Looks at one line item; three are enough unless others change it at the same time. */
const looksMax = 8;

/**
 * A campaign was cancelled: its line items are cancelled, or stopped where they have begun. Then the operation has succeeded. Throws
 * when one does not end: nothing is called complete that is not.
 */
export async function endLineItems(event: EventOf<'campaign.cancelled'>, send: Send, pool: Pool): Promise<void> {
  const { workspace_id: workspaceId, subject } = event;
  const changes = { cause: event.after.state_reason ?? 'The campaign was cancelled.' };
  const read = async (id: string) => (await findResource(pool, workspaceId, 'line_items', id))!;

  async function end(id: string): Promise<void> {
    for (let look = 0; look < looksMax; look++) {
      const { version, lifecycle_state: state } = await read(id);
      if (endedLineItemStates.includes(state)) return;
      for (const type of cancelCommands[state] ?? ['line_item.cancel']) {
        // With the version in its key a step is repeated only on what has changed since.
        await send(event, `${id}:${version}`, { type, id, changes });
        if ((await read(id)).version !== version) break;
      }
    }
    throw new Error(`line item ${id} of a cancelled campaign does not end`);
  }

  for (const { id } of await listLinked(pool, workspaceId, 'line_items', 'campaign', subject.id)) await end(id);
  await send(event, 'complete', { type: 'campaign.complete_cancel', id: subject.id, changes: {} });
}
