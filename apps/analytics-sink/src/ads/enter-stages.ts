import type { Columns } from '@longwave/audience-store';
import { databaseOutage, transaction, type Pool, type Transaction } from '@longwave/postgres';
import { readChangeBasis } from '../counting/change-basis.ts';
import { appendEntries } from './ad-ledger.ts';
import { addToCohorts, readReached } from './cohort-table.ts';
import { holdServings, lockServings, moveServings, saveServings } from './serving-stages.ts';

/** Settings of sessions that enter the stages and cohorts of all that they change; triggers queue what other sessions change of servings. */
export const entersStages = { 'longwave.enters_stages': 'on' };

type Queued = Columns<'unentered_serving', 'id' | 'serving_id'>;

/** Takes the first rows out of the queue until the transaction ends. */
async function takeQueued(tx: Transaction, maxRows: number): Promise<readonly Queued[]> {
  const { rows } = await tx.query<Queued>(
    `delete from unentered_serving where id in (
       select id from unentered_serving order by id limit $1 for update skip locked) returning id, serving_id`,
    [maxRows],
  );
  return rows;
}

/** Puts a row behind all others; answers its new id, none if somebody else has taken it. */
async function setAside(pool: Pool, { id }: Queued): Promise<string | undefined> {
  const { rows } = await pool.query<Pick<Queued, 'id'>>(
    `with taken as (delete from unentered_serving where id = $1 returning serving_id)
     insert into unentered_serving (serving_id) select serving_id from taken returning id`,
    [id],
  );
  return rows[0]?.id;
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

/** @param onTaken told which rows are entered, before they are */
async function enterBatch(
  pool: Pool,
  listsVersion: string,
  maxRows: number,
  onTaken: (rows: readonly Queued[]) => void,
): Promise<number> {
  return transaction(pool, async (tx) => {
    const queued = await takeQueued(tx, maxRows);
    onTaken(queued);
    const servingIds = [...new Set(queued.map((row) => row.serving_id))];
    if (servingIds.length === 0) return 0;
    await holdServings(tx, servingIds);
    await nameCohorts(tx, servingIds);
    const servings = await lockServings(tx, servingIds, { ads: [], written: [] });
    const { entries, bills } = await moveServings(tx, servings);
    await appendEntries(tx, entries, await readChangeBasis(tx, listsVersion));
    const moves = await readReached(tx, servingIds);
    await saveServings(tx, moves, bills);
    await addToCohorts(tx, moves);
    return queued.length;
  });
}

/** Servings that are set aside in one call at most: where more fail, the fault is hardly theirs. */
const maxSetAside = 10;

/**
 * Enters the stages and cohorts of servings that a release before has changed, which knows neither (docs/adr/0093). Each serving is read
 * anew under its lock, so it does no harm how often it is queued, and any number of processes may do it while both releases count. A
 * batch that fails is halved down to the serving that cannot be entered, which goes behind the others until its turn comes again.
 * @param onSetAside told of each of these
 * @returns rows of the queue that are done, at most `maxRows`
 */
export async function enterStages(
  pool: Pool,
  listsVersion: string,
  maxRows: number,
  onSetAside: (servingId: string, error: unknown) => void,
): Promise<number> {
  let [done, aside, size] = [0, 0, maxRows];
  let firstAside: string | undefined;
  while (done + aside < maxRows && aside < maxSetAside) {
    const most = Math.min(size, maxRows - done - aside);
    let taken: readonly Queued[] = [];
    try {
      const entered = await enterBatch(pool, listsVersion, most, (rows) => (taken = rows));
      done += entered;
      if (entered < most) break;
      size = 2 * most;
    } catch (error) {
      const [first] = taken;
      if (!first || databaseOutage(error)) throw error;
      size = Math.ceil(taken.length / 2);
      if (taken.length > 1) continue;
      // All others have had their turn.
      if (firstAside !== undefined && BigInt(first.id) >= BigInt(firstAside)) break;
      const id = await setAside(pool, first);
      firstAside ??= id;
      onSetAside(first.serving_id, error);
      aside++;
    }
  }
  return done;
}
