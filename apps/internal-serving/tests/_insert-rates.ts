/**
 * A program: stores decisions with two slots of goals each, which leases pay for, in turn with the same without goals, and prints decisions a
 * second as JSON (`npm run bench -- "insert with leases"`).
 */
import { startTestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { insertInto } from './_decision.ts';
import { changeMode, grant, leasedDecision, newNode } from './_leases.ts';

const [batchSize, batches, lineItems, rounds] = [32, 80, 20, 9];

await using database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
const pool = createPool(database.url, 'serving', { name: 'bench', max: 2, readsKeys: true });
await changeMode(pool, 'lease');
const nodeEpoch = await newNode(pool);
const ids = Array.from({ length: lineItems }, () => newId('li'));
for (const lineItemId of ids) await grant(pool, nodeEpoch, lineItemId, { granted: 100_000_000 });
const insert = insertInto(pool);

/** Decisions a second; they are made before. */
async function rateOf(hasGoals: boolean): Promise<number> {
  const made = Array.from({ length: batches }, (_, batch) =>
    Array.from({ length: batchSize }, (_each, at) => {
      const first = batch * batchSize + at;
      const two = [ids[first % lineItems]!, ids[(first * 7 + 3) % lineItems]!];
      return leasedDecision(nodeEpoch, hasGoals ? two : []);
    }),
  );
  const began = performance.now();
  for (const decisions of made)
    if ((await insert(decisions)).size !== batchSize) throw new Error('a decision was not stored');
  return (batches * batchSize * 1_000) / (performance.now() - began);
}

await rateOf(true);
await rateOf(false);
const [leased, plain] = [[], []] as [number[], number[]];
for (let round = 0; round < rounds; round++) {
  leased.push(await rateOf(true));
  plain.push(await rateOf(false));
}
await pool.end();
console.log(JSON.stringify({ leased, plain }));
