import { beginOperation, findResource, listLinked } from '@longwave/command-pipeline';
import type { EventOf, StateOf } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import { endedLineItemStates } from './campaign.ts';
import type { Send } from '../../background/send-as-management.ts';

type EndingCommand = 'line_item.cancel' | 'line_item.pause' | 'line_item.stop';

/** The commands that end a line item, by its state. A line item that has delivered cannot be cancelled: the second command applies. */
const cancelCommands: { readonly [S in StateOf<'line_items'>]?: readonly EndingCommand[] } = {
  booked: ['line_item.cancel', 'line_item.pause'],
  paused: ['line_item.cancel', 'line_item.stop'],
  delivering: ['line_item.stop'],
  delivery_extended: ['line_item.stop'],
};
/** Attempts at one line item: three are enough unless other clients change it at the same time. */
const maxAttempts = 8;

/**
 * Ends the line items of a cancelled campaign: cancels them, or stops those that have begun, and completes the operation. Throws when a line
 * item does not end, so that the event is retried and the operation is not completed.
 */
export async function endLineItems(event: EventOf<'campaign.cancelled'>, send: Send, pool: Pool): Promise<void> {
  const { workspace_id: workspaceId, subject } = event;
  const changes = { cause: event.after.state_reason ?? 'The campaign was cancelled.' };
  const read = async (id: string) => (await findResource(pool, workspaceId, 'line_items', id))!;

  async function end(id: string): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { version, lifecycle_state: state } = await read(id);
      if (endedLineItemStates.includes(state)) return;
      for (const type of cancelCommands[state] ?? ['line_item.cancel']) {
        // The version in the key lets a command be sent again only after a change.
        await send(event, `${id}:${version}`, { type, id, changes });
        if ((await read(id)).version !== version) break;
      }
    }
    throw new Error(`line item ${id} of a cancelled campaign does not end`);
  }

  await beginOperation(pool, subject);
  for (const { id } of await listLinked(pool, workspaceId, 'line_items', 'campaign', subject.id)) await end(id);
  await send(event, 'complete', { type: 'campaign.complete_cancel', id: subject.id, changes: {} });
}
