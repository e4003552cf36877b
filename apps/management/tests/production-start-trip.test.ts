import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { startTestManagement, type TestManagement } from './_management.ts';
import { serveManagement } from './_serve.ts';
import { statementsOf } from '@longwave/test-kit/statements';
import { createWorld } from './_world.ts';

let management: TestManagement;
let gateway: Awaited<ReturnType<typeof serveManagement>>;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  gateway = stack.use(await serveManagement(management));
});
afterAll(() => stack.disposeAsync());

/** The statements of the two calls that a gateway makes for `POST /productions/{id}/start`. */
async function tripOf(key: string, { again = false } = {}) {
  const world = createWorld(management);
  if (world.actor.kind !== 'principal') throw new Error('a person');
  await world.setEncodingLimit(null);
  const { id, workspace_id: workspaceId, resource_type: type } = await world.production();
  const context = await gateway.speaksFor(world.actor.principal);
  const start = {
    ...{ workspaceId: '', commandType: 'production.start', idempotencyKey: key, subjectType: type, subjectId: id },
    ...{ ifMatch: '', subjectVersion: undefined, changesJson: '{}', reasonJson: '' },
  };
  if (again) await gateway.commands.execute(start, context);
  const { pool } = management;
  return {
    start: await statementsOf(pool, () => gateway.commands.execute(start, context)),
    show: await statementsOf(pool, () =>
      gateway.encodingQueue.getQueuePlace({ workspaceId, productionId: id }, context),
    ),
  };
}

test('a start reads its subject once outside the transaction and once under lock, and looks its key up once', async () => {
  const { start, show } = await tripOf(newId('req'));
  const begin = start.findIndex((statement) => statement.startsWith('BEGIN'));
  // Visibility, permission and preparation share the one read; the upload behind the production is found and its copy looked up.
  expect(start.slice(0, begin)).toEqual([
    'find_with_parents',
    'find_idempotency_record',
    'find_anywhere',
    'find_kept_upload',
  ]);
  expect(start.slice(begin + 1, begin + 3)).toEqual(['claim_idempotency_key', 'lock_resource']);
  const count = (name: string) => start.filter((statement) => statement === name).length;
  expect([count('lock_resource'), count('claim_idempotency_key')]).toEqual([1, 1]);
  expect(show[0]).toBe('find_with_parents');
  // The transaction holds only the work itself: whether the workspace is suspended, the upload, the month's balance, the job, revision,
  // receipt and operation.
  expect(start.length + show.length).toBeLessThanOrEqual(25);
});

test('a repeated start is answered from its key, without a transaction', async () => {
  const { start } = await tripOf(newId('req'), { again: true });
  expect(start).toEqual(['find_with_parents', 'find_idempotency_record', 'find_resource']);
});
