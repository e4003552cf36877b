import type { Columns } from '@longwave/audience-store';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { readChangeBasis } from '../counting/change-basis.ts';
import { appendEntries } from './ad-ledger.ts';
import { addToCohorts, readReached } from './cohort-table.ts';
import { holdServings, lockServings, moveServings, saveServings } from './serving-stages.ts';

/** Settings of sessions that enter the stages and cohorts of all that they change; triggers queue what other sessions change of servings. */
export const entersStages = { 'longwave.enters_stages': 'on' };

/** Takes servings out of the queue until the transaction ends; answers how many rows of it, and the servings, each once. */
async function takeQueued(tx: Transaction, maxRows: number) {
  const { rows } = await tx.query<Columns<'unentered_serving', 'serving_id'>>(
    `delete from unentered_serving where id in (
       select id from unentered_serving order by id limit $1 for update skip locked) returning serving_id`,
    [maxRows],
  );
  return { queued: rows.length, servingIds: [...new Set(rows.map((row) => row.serving_id))] };
}

/** Names the cohorts of decided servings that have none. Their decisions did not say what they were for: files, as in the migration. */
async function nameCohorts(tx: Transaction, servingIds: readonly string[]): Promise<void> {
  await tx.query(
    `update ad_serving s set line_item_id = e.line_item_id, workspace_id = e.workspace_id, surface_class = 'download'
     from ad_entry e
     where s.serving_id = any($1) and s.decided_at is not null and s.line_item_id is null and e.serving_id = s.serving_id and e.stage = 'decided'`,
    [servingIds],
  );
}

/**
 * Enters the stages and cohorts of servings that a release before has changed, which knows neither (docs/adr/0093). Each serving is read
 * anew under its lock, so it does no harm how often it is queued, and any number of processes may do it while both releases count.
 * @returns rows of the queue that are done, at most `maxRows`
 */
export async function enterStages(pool: Pool, listsVersion: string, maxRows: number): Promise<number> {
  return transaction(pool, async (tx) => {
    const { queued, servingIds } = await takeQueued(tx, maxRows);
    if (servingIds.length === 0) return queued;
    await holdServings(tx, servingIds);
    await nameCohorts(tx, servingIds);
    const servings = await lockServings(tx, servingIds, { ads: [], written: [] });
    const { entries, bills } = await moveServings(tx, servings);
    await appendEntries(tx, entries, await readChangeBasis(tx, listsVersion));
    const moves = await readReached(tx, servingIds);
    await saveServings(tx, moves, bills);
    await addToCohorts(tx, moves);
    return queued;
  });
}
