import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import type { OperationView } from '../src/index.ts';
import { startTestStore, type TestStore } from './_store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(async () => store[Symbol.asyncDispose]());

test('of 20 equal requests at once one is carried out, and all get its answer', async () => {
  const workspaceId = newId('ws');
  const key = newId('req');
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.create(workspaceId, key)));
  expect(new Set(outcomes.map(({ operationJson }) => operationJson)).size).toBe(1);
  expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1);
  for (const table of ['resource', 'operation', 'receipt', 'change'])
    expect((await store.pool.query(`select from ${table} where workspace_id = $1`, [workspaceId])).rowCount).toBe(1);
});

test('a used key is spent for another version of its subject, and in conflict with other content; both name the original', async () => {
  const workspaceId = newId('ws');
  const { resource } = await store.create(workspaceId);
  const key = newId('req');
  const revise = (version: number | undefined, name: string) =>
    store.send({
      workspaceId,
      commandType: 'advertiser.revise',
      idempotencyKey: key,
      subject: { type: 'advertisers', id: resource.id, version },
      changes: { legal_name: name },
    });
  const first = await revise(1, 'Tidewater Holding');
  const { id, receipt_id } = JSON.parse(first.operationJson) as OperationView;
  const original = { status: 409, context: { operationId: id, receiptId: receipt_id } };
  for (const version of [2, 7, undefined])
    await expect(revise(version, 'Tidewater Holding')).rejects.toMatchObject({
      ...original,
      code: 'idempotency_key_spent',
    });
  for (const version of [1, 2])
    await expect(revise(version, 'Other')).rejects.toMatchObject({ ...original, code: 'idempotency_conflict' });
  // The subject is at version 2 now; the replay still answers.
  expect(await revise(1, 'Tidewater Holding')).toMatchObject({ operationJson: first.operationJson, replayed: true });
});

test('a version by If-Match counts like subject.version: a key names one of them, and its replay answers before the guard', async () => {
  const workspaceId = newId('ws');
  const { resource } = await store.create(workspaceId);
  const key = newId('req');
  const tag = (version: number) => `"${version}.${resource.digest.slice(0, 16)}"`;
  const revise = (guard: { ifMatch?: string; version?: number }, name = 'Tidewater Holding') =>
    store.send({
      workspaceId,
      commandType: 'advertiser.revise',
      idempotencyKey: key,
      ifMatch: guard.ifMatch,
      subject: { type: 'advertisers', id: resource.id, version: guard.version },
      changes: { legal_name: name },
    });
  const first = await revise({ ifMatch: tag(1) });
  const { id, receipt_id } = JSON.parse(first.operationJson) as OperationView;
  const original = { status: 409, context: { operationId: id, receiptId: receipt_id } };
  for (const guard of [{ ifMatch: tag(2) }, { version: 2 }, {}])
    await expect(revise(guard)).rejects.toMatchObject({ ...original, code: 'idempotency_key_spent' });
  await expect(revise({ ifMatch: tag(2) }, 'Other')).rejects.toMatchObject({
    ...original,
    code: 'idempotency_conflict',
  });
  // The subject is at version 2 now: each of these would be stale.
  for (const guard of [{ ifMatch: tag(1) }, { version: 1 }, { ifMatch: tag(1), version: 1 }])
    expect(await revise(guard)).toMatchObject({ operationJson: first.operationJson, replayed: true });
});

test('one key serves each client, each workspace and each command type', async () => {
  const [one, other] = [newId('ws'), newId('ws')];
  const key = newId('req');
  const created = await store.create(one, key);
  expect((await store.create(other, key)).replayed).toBe(false);
  const revised = await store.send({
    workspaceId: one,
    commandType: 'advertiser.revise',
    idempotencyKey: key,
    subject: { type: 'advertisers', id: created.resource.id, version: 1 },
    changes: { legal_name: 'Tidewater Holding' },
  });
  expect(revised.replayed).toBe(false);
  const { rows } = await store.pool.query(
    'select client_id, workspace_id, command_type from idempotency_record where key = $1',
    [key],
  );
  expect(rows).toHaveLength(3);
});

test('a request whose key another transaction holds is told when to come again', async () => {
  const workspaceId = newId('ws');
  const key = newId('req');
  const holder = await store.pool.connect();
  try {
    await holder.query('begin');
    await holder.query(
      `insert into idempotency_record (client_id, workspace_id, command_type, key, digest, operation_id, status, answer, created_at)
       values ('service:operator', $1, 'advertiser.create', $2, '', '', 0, '', now())`,
      [workspaceId, key],
    );
    await expect(store.create(workspaceId, key)).rejects.toMatchObject({
      code: 'idempotency_in_progress',
      status: 409,
      context: { retryAfterSeconds: expect.any(Number) },
    });
  } finally {
    await holder.query('rollback');
    holder.release();
  }
});
