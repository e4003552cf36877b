import type { EventOf } from '@longwave/command-catalog';
import { insertNotice } from '@longwave/command-pipeline';
import { transaction, type Pool } from '@longwave/postgres';
import { isOwnOperation } from './ended-operation-table.ts';

/**
 * Tells the workspace that the service has disabled one of its endpoints, which no person has asked for. Like every entry of the changes it
 * may come twice.
 */
export async function noticeDisabled(
  event: EventOf<'webhook_endpoint.disabled'>,
  { pool, clock }: { readonly pool: Pool; readonly clock: () => Date },
): Promise<void> {
  if (!(await isOwnOperation(pool, event.operation_id))) return;
  const { type, workspace_id: workspaceId, subject, operation_id, after } = event;
  const detail = { operation_id, cause: after.attributes.state_reason, url: after.attributes.url };
  await transaction(pool, (tx) => insertNotice(tx, { workspaceId, subject, type, detail, now: clock() }));
}
