import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { isProblem } from '@longwave/problems';
import { createResourceReader, type ResourceReader } from '../src/index.ts';
import { startTestStore, type TestStore } from './_store.ts';

let store: TestStore;
let reader: ResourceReader;
beforeAll(async () => {
  store = await startTestStore();
  reader = createResourceReader({
    ...{ pool: store.pool, schema: 'product', catalog: store.catalog },
    cursorKey: randomBytes(32),
    clock: () => new Date(),
  });
});
afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

/** Another process whose 25 writers work until it is killed. */
function startWriters(workspaceId: string) {
  const { url, adminUrl } = store.database;
  const file = path.join(import.meta.dirname, 'fixture-writers.ts');
  const child = spawn(process.execPath, ['--no-warnings', file, url, adminUrl, workspaceId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const answered: string[] = [];
  createInterface(child.stdout).on('line', (id) => answered.push(id));
  return {
    answered,
    kill: async () => {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

test('the changes lose nothing under 50 writers and a kill -9 of half of them, and a reader gets each one once, in order', async () => {
  const workspaceId = newId('ws');
  const killed = startWriters(workspaceId);
  let isWriting = true;
  const own: string[] = [];
  const writing = Array.from({ length: 25 }, async () => {
    while (isWriting)
      await store.create(workspaceId).then(
        ({ resource }) => own.push(resource.id),
        (error: unknown) => {
          // The chain of receipts was locked for too long: the command may be sent again.
          if (!isProblem(error, 'idempotency_in_progress')) throw error;
        },
      );
  });

  // A reader that remembers only its cursor.
  const seen: { readonly id: string; readonly version: number | undefined }[] = [];
  let after: string | undefined;
  const readOn = async () => {
    const page = await reader.listChanges({ scope: { workspaceId }, limit: 20, ...(after !== undefined && { after }) });
    seen.push(...page.changes.map(({ subject, resource }) => ({ id: subject.id, version: resource?.version })));
    after = page.nextCursor;
    return page.more;
  };
  while (killed.answered.length < 100) await readOn();
  await killed.kill();
  const before = own.length;
  while (own.length < before + 100) await readOn();
  isWriting = false;
  await Promise.all(writing);
  while (await readOn());

  const { rows } = await store.pool.query<{ id: string; version: number }>(
    `select c.resource_id as id, v.version from change c join revision v using (resource_id, version)
     where workspace_id = $1 order by seq, position`,
    [workspaceId],
  );
  expect(seen).toEqual(rows);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  const ids = new Set(rows.map(({ id }) => id));
  // Every change that was answered is there, also those of the process that was killed.
  expect([...own, ...killed.answered].filter((id) => !ids.has(id))).toEqual([]);
  const { rows: stored } = await store.pool.query<{ count: number }>(
    'select count(*)::int as count from resource where workspace_id = $1',
    [workspaceId],
  );
  expect(stored[0]!.count).toBe(rows.length);
});
