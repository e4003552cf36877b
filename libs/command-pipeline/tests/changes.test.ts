import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startEarlierDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { databaseOutage, transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { insertNotice } from '../src/index.ts';
import { startTestStore, type TestStore } from './_store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(async () => store[Symbol.asyncDispose]());

interface ChangeRow {
  readonly seq: number;
  readonly position: number;
  readonly kind: string;
  readonly resource_id: string;
  readonly version: number | null;
  readonly event_type: string;
}
const columns = 'seq, position, kind, resource_id, version, event_type';
const changesAfter = async (workspaceId: string, seq = -1, position = -1) =>
  (
    await store.pool.query<ChangeRow>(
      `select ${columns} from change where workspace_id = $1 and (seq, position) > ($2, $3) order by seq, position`,
      [workspaceId, seq, position],
    )
  ).rows;

/** Revisions without exactly one change, and changes without their revision, in the whole store. */
const differences = async () =>
  (
    await store.admin.query(
      `select coalesce(v.resource_id, c.resource_id) as id, coalesce(v.version, c.version) as version, count(c.resource_id)::int as changes
       from revision v full join (select * from change where kind = 'revision') c using (resource_id, version)
       group by v.resource_id, v.version, c.resource_id, c.version
       having count(c.resource_id) <> 1 or v.resource_id is null`,
    )
  ).rows;

/** Sends under one key until it is answered: connections break, and locks are waited for too long. */
async function createOnce(workspaceId: string): Promise<void> {
  const key = newId('req');
  for (;;)
    try {
      await store.create(workspaceId, key);
      return;
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'idempotency_in_progress') && !databaseOutage(error))
        throw error;
    }
}

test('50 writers whose connections break: each revision is listed once, and nothing appears behind a reader', async () => {
  const workspaceId = newId('ws');
  const writers = Array.from({ length: 50 }, async () => {
    for (let i = 0; i < 4; i++) await createOnce(workspaceId);
  });
  const notices = Array.from({ length: 20 }, (_, i) =>
    transaction(store.admin, (tx) =>
      insertNotice(tx, {
        workspaceId,
        subject: { type: 'webhook_endpoints', id: `whe_${i}` },
        type: 'webhook_endpoint.disabled',
        now: new Date(),
      }),
    ),
  );
  let isWriting = true;
  const written = Promise.all([...writers, ...notices]).finally(() => (isWriting = false));
  // A reader that remembers only its place.
  const seen: ChangeRow[] = [];
  let broken = 0;
  for (let round = 0; isWriting; round++) {
    const last = seen.at(-1);
    seen.push(...(await changesAfter(workspaceId, last?.seq, last?.position)));
    if (round % 10 !== 5) continue;
    const killed = await store.admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
         where usename = 'longwave_product' and datname = current_database() and state <> 'idle' limit 2`,
    );
    broken += killed.rowCount ?? 0;
  }
  await written;
  const last = seen.at(-1);
  seen.push(...(await changesAfter(workspaceId, last?.seq, last?.position)));
  expect(seen).toEqual(await changesAfter(workspaceId));
  expect(seen.filter(({ kind }) => kind === 'revision')).toHaveLength(200);
  expect(new Set(seen.map(({ resource_id: id }) => id)).size).toBe(220);
  expect(await differences()).toEqual([]);
  expect(broken).toBeGreaterThan(0);
  const receipts = await store.pool.query<{ seq: number; resource_id: string }>(
    `select c.seq, c.resource_id from receipt r join change c using (workspace_id, seq)
     where r.workspace_id = $1 and c.kind = 'revision' and c.operation_id = r.operation_id order by seq`,
    [workspaceId],
  );
  expect(receipts.rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
});

test('a notice takes no place in the chain of receipts, also before the first receipt', async () => {
  const workspaceId = newId('ws');
  const notice = { workspaceId, subject: { type: 'webhook_endpoints', id: 'whe_1' }, now: new Date() };
  await transaction(store.pool, (tx) => insertNotice(tx, { ...notice, type: 'webhook_endpoint.disabled' }));
  const { resource } = await store.create(workspaceId);
  await transaction(store.pool, (tx) => insertNotice(tx, { ...notice, type: 'webhook_endpoint.enabled' }));
  await store.send({
    workspaceId,
    commandType: 'advertiser.revise',
    subject: { type: 'advertisers', id: resource.id, version: 1 },
    changes: { legal_name: 'Tidewater Holding' },
  });
  const about = (await changesAfter(workspaceId)).map((row) => [row.seq, row.position, row.event_type, row.version]);
  expect(about).toEqual([
    [0, 0, 'webhook_endpoint.disabled', null],
    [1, 0, 'advertiser.created', 1],
    [1, 1, 'webhook_endpoint.enabled', null],
    [2, 0, 'advertiser.revised', 2],
  ]);
});

test('the upgrade lists the revisions of before in the order of their receipts, and those of a service that is not yet replaced', async () => {
  await using earlier = await startEarlierDatabase('apps/management/prisma', '_change');
  const { pool } = earlier;
  /** What a service of release 0.3.0 writes in one transaction; `revisions` are [type, id, version, event]. */
  const commit = (seq: number, operation: string, revisions: readonly (readonly [string, string, number, string])[]) =>
    transaction(pool, async (tx) => {
      for (const [type, id, version, event] of revisions) {
        await tx.query(
          `insert into resource values ($1, 'ws_1', $2, $3, 'draft', '{}', 'd', $4, now(), now())
           on conflict (id) do update set version = excluded.version`,
          [id, type, version, operation],
        );
        await tx.query(`insert into revision values ($1, $2, 'draft', '{}', 'd', $3, now())`, [id, version, operation]);
        const payload = { subject: { type, id, version }, occurred_at: '2026-11-20T10:00:00.000Z' };
        await tx.query('insert into outbox (key, event_id, type, payload) values ($1, $2, $3, $4)', [
          id,
          newId('evt'),
          event,
          payload,
        ]);
      }
      await tx.query(
        `insert into receipt (id, workspace_id, seq, operation_id, jws) values ($1, 'ws_1', $2, $3, 'jws')`,
        [newId('rcp'), seq, operation],
      );
    });
  await commit(1, 'op_1', [['advertisers', 'adv_1', 1, 'advertiser.created']]);
  await commit(2, 'op_2', [['review_tasks', 'rvt_1', 1, 'review.requested']]);
  await commit(3, 'op_3', [['review_tasks', 'rvt_1', 2, 'review.approved']]);
  // The approved command: the operation's second receipt.
  await commit(4, 'op_2', [['advertisers', 'adv_1', 2, 'advertiser.activated']]);
  await commit(5, 'op_5', [
    ['media_clips', 'clip_1', 1, 'media_clip.deleted'],
    ['episodes', 'ep_1', 1, 'episode.unpublished'],
  ]);
  await earlier.upgrade();
  await commit(6, 'op_6', [
    ['media_clips', 'clip_2', 1, 'media_clip.deleted'],
    ['episodes', 'ep_1', 2, 'episode.audio_removed'],
  ]);
  const { rows } = await pool.query<ChangeRow>(`select ${columns} from change order by seq, position`);
  expect(rows.map((row) => [row.seq, row.position, row.resource_id, row.version, row.event_type])).toEqual([
    [1, 0, 'adv_1', 1, 'advertiser.created'],
    [2, 0, 'rvt_1', 1, 'review.requested'],
    [3, 0, 'rvt_1', 2, 'review.approved'],
    [4, 0, 'adv_1', 2, 'advertiser.activated'],
    [5, 0, 'clip_1', 1, 'media_clip.deleted'],
    [5, 1, 'ep_1', 1, 'episode.unpublished'],
    [6, 0, 'clip_2', 1, 'media_clip.deleted'],
    [6, 1, 'ep_1', 2, 'episode.audio_removed'],
  ]);
});
