import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { startTestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, transaction, type Pool } from '@longwave/postgres';
import { findLink, listLinked, resourceView, revisionDigest, type ResourceRow } from '../src/index.ts';
import { saveRevision } from '../src/store/resource-table.ts';

let pool: Pool;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  const database = stack.use(await startTestDatabase({ schema: 'product', migrations: 'apps/management/prisma' }));
  pool = stack.adopt(createPool(database.url, 'product', { name: 'test' }), (each) => each.end());
});
afterAll(() => stack.disposeAsync());

const definition = productCatalog.resources.productions;
const workspaceId = newId('ws');

/** Saves what a production is after `before`. */
async function save(attributes: Record<string, unknown>, before?: ResourceRow): Promise<ResourceRow> {
  const now = new Date();
  const draft = {
    id: before?.id ?? newId('prd'),
    workspace_id: workspaceId,
    resource_type: 'productions',
    version: (before?.version ?? 0) + 1,
    lifecycle_state: 'initial',
    attributes,
    operation_id: newId('op'),
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
  const row = { ...draft, digest: revisionDigest(draft) };
  await transaction(pool, async (tx) =>
    saveRevision(tx, definition, row, before, {
      id: newId('evt'),
      type: 'production.revised',
      workspace_id: workspaceId,
      subject: { type: 'productions', id: row.id, version: row.version },
      operation_id: row.operation_id,
      occurred_at: now.toISOString(),
      after: resourceView(definition, row),
    }),
  );
  return row;
}
const linked = async (name: 'episode' | 'upload', to: string) =>
  (await listLinked(pool, workspaceId, 'productions', name, to)).map(({ id }) => id);

/** Checked by the compiler alone: each line below an expected error must not compile. */
export async function refused(): Promise<unknown> {
  // @ts-expect-error a link that productions do not have
  await listLinked(pool, workspaceId, 'productions', 'podcast', 'pod_1');
  const [row] = await listLinked(pool, workspaceId, 'productions', 'episode', 'ep_1');
  // @ts-expect-error a misspelt attribute
  return row!.attributes.fileurl;
}

test('a link lives as long as its attribute: set, changed, kept and gone with it', async () => {
  const [episode, upload, another] = [newId('ep'), newId('upl'), newId('upl')];
  const created = await save({ episode_id: episode, upload_id: upload });
  expect(await linked('upload', upload)).toEqual([created.id]);

  const moved = await save({ episode_id: episode, upload_id: another }, created);
  expect(await linked('upload', upload)).toEqual([]);
  expect(await linked('upload', another)).toEqual([created.id]);

  const bare = await save({ episode_id: episode }, moved);
  expect(await linked('upload', another)).toEqual([]);
  expect(await findLink(pool, created.id, 'upload')).toBeUndefined();
  expect(await linked('episode', episode)).toEqual([created.id]);

  await save({ episode_id: episode, upload_id: upload }, bare);
  expect(await linked('upload', upload)).toEqual([created.id]);
});
