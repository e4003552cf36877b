import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { serveHttp, type HttpWorld } from './_http.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { guestIn, service } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
let api: HttpWorld;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  api = stack.use(await serveHttp(management));
});
afterAll(() => stack.disposeAsync());

test('a person finds every workspace in which they see anything, with their roles, and no other', async () => {
  const [own, other, foreign] = [createWorld(management), createWorld(management), createWorld(management)];
  for (const { workspaceId } of [own, other, foreign])
    await management.execute(
      {
        workspaceId,
        commandType: 'workspace.provision',
        idempotencyKey: 'provision',
        subject: { type: 'workspaces', id: workspaceId },
        changes: { name: 'Harbour Light', account_id: newId('acc') },
      },
      service('management'),
    );
  const visitor = guestIn(other.workspaceId, own.actor, ['viewer']);
  const { status, json } = await api.call('/workspaces', { token: api.tokenFor(visitor) });
  expect(status).toBe(200);
  expect(json.rows.map(({ id, roles }: { id: string; roles: string[] }) => [id, roles])).toEqual([
    [own.workspaceId, expect.arrayContaining(['owner'])],
    [other.workspaceId, ['viewer']],
  ]);
  expect(JSON.stringify(json)).not.toContain(foreign.workspaceId);
});
