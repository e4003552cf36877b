import { idToUuid, newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { insertDecisions } from './decision-table.ts';
import type { TextLists } from './known-texts.ts';
import { listDecision, packDecision } from './packed-decision.ts';
import type { NewDecision } from './stored-decision.ts';

/**
 * Stores decisions of different ids, each unless its id has one; answers the ids that were stored.
 * @param onStored called for those that filled slots, which one row of the announcements names
 */
export const createInsert =
  (
    pool: Pool,
    texts: Pick<TextLists, 'forPlan'>,
    onStored: (batchId: string, filled: readonly NewDecision[]) => void,
  ) =>
  async (decisions: readonly NewDecision[]): Promise<ReadonlySet<string>> => {
    const batchId = idToUuid(newId('dec'));
    const written = await insertDecisions(
      pool,
      batchId,
      decisions.map((decision) => {
        const listed = listDecision(decision);
        const known = texts.forPlan(`${decision.workspaceId} ${decision.planDigest ?? ''}`, listed.list);
        return { decision, packed: packDecision(decision.requestDigest, listed, known) };
      }),
    );
    const filled = decisions.filter(({ decisionId, answer }) => answer.picks.length > 0 && written.has(decisionId));
    if (filled.length > 0) onStored(batchId, filled);
    return written;
  };
