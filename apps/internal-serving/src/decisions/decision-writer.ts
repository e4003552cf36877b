import type { DecisionRow } from './decision-table.ts';

/** Writes a decision unless its id has one. Resolves once the row is durable: whether this call wrote it. */
export type WriteDecision = (row: DecisionRow) => Promise<boolean>;

interface WaitingRow extends PromiseWithResolvers<boolean> {
  readonly row: DecisionRow;
}

const rowsMax = 200;
/** An insert that takes longer (another node holds one of its ids) no longer holds up the decisions behind it. */
const patienceMs = 20;

const endOfTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Resolves when the work is done or the time is over; the work never rejects. */
const atMost = (timeMs: number, work: Promise<void>) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, timeMs);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * Writes in natural batches: while one insert is under way decisions collect, and the next insert takes them all, at most 200.
 * Calls with the same id share one row, which counts as written by the first. A failing insert rejects the calls of its rows.
 * @param insert writes rows of different ids by one statement; answers the ids that it wrote
 */
export function createDecisionWriter(
  insert: (rows: readonly DecisionRow[]) => Promise<ReadonlySet<string>>,
): WriteDecision {
  const waiting = new Map<string, WaitingRow>();
  let running = false;

  async function insertBatch(batch: readonly WaitingRow[]): Promise<void> {
    try {
      const written = await insert(batch.map(({ row }) => row));
      for (const { row, resolve } of batch) resolve(written.has(row.decisionId));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function run(): Promise<void> {
    running = true;
    await endOfTurn();
    while (waiting.size > 0) {
      const batch = [...waiting.values().take(rowsMax)];
      for (const { row } of batch) waiting.delete(row.decisionId);
      await atMost(patienceMs, insertBatch(batch));
    }
    running = false;
  }

  return (row) => {
    const first = waiting.get(row.decisionId);
    if (first) return first.promise.then(() => false);
    const call = { row, ...Promise.withResolvers<boolean>() };
    waiting.set(row.decisionId, call);
    if (!running) void run();
    return call.promise;
  };
}
