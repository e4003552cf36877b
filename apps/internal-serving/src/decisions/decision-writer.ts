import { inBatches } from '@longwave/postgres';
import { areSlotsRefused } from './decision-table.ts';
import type { NewDecision } from './stored-decision.ts';

/** `repeated`: the id had a decision; `refused`: nothing was stored, as a lease does not pay for a slot that the decision takes. */
export type WriteOutcome = 'written' | 'repeated' | 'refused';

/** Writes a decision unless its id has one. Resolves once it is durable, or is not to be. */
export type WriteDecision = (decision: NewDecision) => Promise<WriteOutcome>;

type Insert = (decisions: readonly NewDecision[]) => Promise<ReadonlySet<string>>;

/** Decisions of a refused batch, one by one, so that only those are refused whose slots are. */
async function insertEach(
  insert: Insert,
  decisions: readonly NewDecision[],
): Promise<Map<string, WriteOutcome | Error>> {
  const outcomes = new Map<string, WriteOutcome | Error>();
  for (const decision of decisions)
    try {
      const written = await insert([decision]);
      outcomes.set(decision.decisionId, written.size > 0 ? 'written' : 'repeated');
    } catch (error) {
      outcomes.set(decision.decisionId, areSlotsRefused(error) ? 'refused' : (error as Error));
    }
  return outcomes;
}

async function insertAll(
  insert: Insert,
  decisions: readonly NewDecision[],
): Promise<Map<string, WriteOutcome | Error>> {
  try {
    const written = await insert(decisions);
    return new Map(decisions.map(({ decisionId }) => [decisionId, written.has(decisionId) ? 'written' : 'repeated']));
  } catch (error) {
    if (!areSlotsRefused(error)) throw error;
    if (decisions.length === 1) return new Map([[decisions[0]!.decisionId, 'refused']]);
    return insertEach(insert, decisions);
  }
}

/**
 * Writes in natural batches. Of calls with the same id the first one's decision is written. A failing insert rejects the calls of its batch;
 * one whose slots are refused is done again row by row.
 * @param insert writes decisions of different ids by one statement; answers the ids that it wrote
 */
export function createDecisionWriter(insert: Insert): WriteDecision {
  const write = inBatches(async (decisions: readonly NewDecision[]) => {
    const firstAt = new Map<string, number>();
    for (const [at, { decisionId }] of decisions.entries()) if (!firstAt.has(decisionId)) firstAt.set(decisionId, at);
    const isFirst = ({ decisionId }: NewDecision, at: number) => firstAt.get(decisionId) === at;
    const outcomes = await insertAll(insert, decisions.filter(isFirst));
    return decisions.map((decision, at) => {
      const outcome = outcomes.get(decision.decisionId)!;
      return outcome === 'written' && !isFirst(decision, at) ? 'repeated' : outcome;
    });
  });
  return async (decision) => {
    const outcome = await write(decision);
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
}
