import type { ChangesOf } from '@longwave/command-catalog';
import { findResource } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { listDeciders } from '../../commerce/reconciliations/item-table.ts';
import { granteesOf } from '../authority/grantee.ts';
import { personOf } from '../people/people-table.ts';

/** A command that is reviewed. */
interface ReviewedCommand {
  readonly workspaceId: string;
  readonly commandType: string;
  /** Undefined when it creates its subject. */
  readonly subjectId: string | undefined;
  readonly changes: unknown;
}

/**
 * The people who decide no review of a command, because it is about them: those whose own authority it changes, and those whose verdicts a
 * closing reconciliation charges.
 */
export async function partiesOf(
  tx: Transaction,
  { workspaceId, commandType, subjectId, changes }: ReviewedCommand,
): Promise<readonly string[]> {
  switch (commandType) {
    case 'authority_grant.propose':
      return granteesOf(tx, changes as ChangesOf<'authority_grant.propose'>);
    case 'machine_key.register': {
      const { authority_id: id } = changes as ChangesOf<'machine_key.register'>;
      const grant = await findResource(tx, workspaceId, 'authority_grants', id);
      return grant ? granteesOf(tx, grant.attributes) : [];
    }
    case 'reconciliation.close': {
      const deciders = await listDeciders(tx, subjectId!);
      return [...deciders, ...(await Promise.all(deciders.map((id) => personOf(tx, id))))];
    }
    default:
      return [];
  }
}
