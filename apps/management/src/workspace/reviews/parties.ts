import type { ChangesOf } from '@longwave/command-catalog';
import { findResource } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { granteesOf } from '../authority/grantee.ts';

/** The people whose own authority a command changes: they decide no review of it. */
export async function partiesOf(
  tx: Transaction,
  { workspaceId, commandType, changes }: { workspaceId: string; commandType: string; changes: unknown },
): Promise<readonly string[]> {
  if (commandType === 'authority_grant.propose') return granteesOf(tx, changes as ChangesOf<'authority_grant.propose'>);
  if (commandType !== 'machine_key.register') return [];
  const { authority_id: id } = changes as ChangesOf<'machine_key.register'>;
  const grant = await findResource(tx, workspaceId, 'authority_grants', id);
  return grant ? granteesOf(tx, grant.attributes) : [];
}
