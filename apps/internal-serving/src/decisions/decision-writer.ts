import { inBatches } from '@longwave/postgres';
import type { NewDecision } from './stored-decision.ts';

/** Writes a decision unless its id has one. Resolves once it is durable: whether this call wrote it. */
export type WriteDecision = (decision: NewDecision) => Promise<boolean>;

/**
 * Writes in natural batches. Of calls with the same id the first one's decision is written. A failing insert rejects the calls of its batch.
 * @param insert writes decisions of different ids by one statement; answers the ids that it wrote
 */
export function createDecisionWriter(
  insert: (decisions: readonly NewDecision[]) => Promise<ReadonlySet<string>>,
): WriteDecision {
  return inBatches(async (decisions) => {
    const firstAt = new Map<string, number>();
    for (const [at, { decisionId }] of decisions.entries()) if (!firstAt.has(decisionId)) firstAt.set(decisionId, at);
    const isFirst = ({ decisionId }: NewDecision, at: number) => firstAt.get(decisionId) === at;
    const written = await insert(decisions.filter(isFirst));
    return decisions.map((decision, at) => isFirst(decision, at) && written.has(decision.decisionId));
  });
}
