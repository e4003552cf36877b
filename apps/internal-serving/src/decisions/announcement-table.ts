import { idFromUuid, idToUuid } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { leaseSeconds } from './decision-table.ts';

/** Decisions that were stored together. */
export interface Batch {
  readonly batchId: string;
  readonly decisionIds: readonly string[];
}

/** Leases batches that nobody holds any more, the oldest first; at most so many. */
export async function leaseBatches(pool: Pool, limit: number): Promise<readonly Batch[]> {
  const { rows } = await pool.query<Columns<'announcement_batch', 'batch_id' | 'decision_ids'>>({
    name: 'lease-batches',
    text: `update announcement_batch set leased_until = now() + make_interval(secs => $2)
           where batch_id in (select batch_id from announcement_batch where leased_until < now()
                              order by batch_id limit $1 for update skip locked)
           returning batch_id, decision_ids`,
    values: [limit, leaseSeconds],
  });
  return rows.map((row) => ({
    batchId: row.batch_id,
    decisionIds: (row.decision_ids ?? []).map((uuid) => idFromUuid('dec', uuid)),
  }));
}

/** Ends leases at once, so that the next try need not wait for them. */
export async function releaseBatches(pool: Pool, batchIds: readonly string[]): Promise<void> {
  await pool.query(`update announcement_batch set leased_until = '-infinity' where batch_id = any ($1::uuid[])`, [
    batchIds,
  ]);
}

/** Removes batches that the bus has, but for these decisions. */
export async function removeBatches(
  pool: Pool,
  batchIds: readonly string[],
  unreadable: readonly string[],
): Promise<void> {
  const values = [batchIds, unreadable.map(idToUuid)];
  await pool.query({
    name: 'remove-batches',
    text: 'delete from announcement_batch where batch_id = any ($1::uuid[]) and (decision_ids && $2::uuid[]) is not true',
    values,
  });
  if (unreadable.length > 0)
    await pool.query({
      name: 'keep-in-batches',
      text: `update announcement_batch
             set decision_ids = array(select unnest(decision_ids) intersect select unnest($2::uuid[]))
             where batch_id = any ($1::uuid[])`,
      values,
    });
}

type OldAnnouncement = Columns<'decision_announcement', 'decision_id'>;

/** Leases decisions that a release up to 0.4.0 stored and nobody has published; answers their ids. */
export async function leaseOldAnnouncements(pool: Pool, limit: number): Promise<readonly string[]> {
  const { rows } = await pool.query<OldAnnouncement>({
    name: 'lease-announcements',
    text: `update decision_announcement set leased_until = now() + make_interval(secs => $2)
           where decision_id in (select decision_id from decision_announcement where leased_until < now()
                                 order by leased_until limit $1 for update skip locked)
           returning decision_id`,
    values: [limit, leaseSeconds],
  });
  return rows.map((row) => row.decision_id);
}

export async function releaseOldAnnouncements(pool: Pool, decisionIds: readonly string[]): Promise<void> {
  await pool.query(`update decision_announcement set leased_until = '-infinity' where decision_id = any ($1)`, [
    decisionIds,
  ]);
}

export async function removeOldAnnouncements(
  pool: Pool,
  decisionIds: readonly string[],
  unreadable: readonly string[],
): Promise<void> {
  await pool.query({
    name: 'delete-announced',
    text: 'delete from decision_announcement where decision_id = any ($1) and decision_id <> all ($2)',
    values: [decisionIds, unreadable],
  });
}
