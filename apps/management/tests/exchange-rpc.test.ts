import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exportLine, verifyChain } from '@longwave/command-pipeline/receipts';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { makeCheckpoint, createCheckpointSigner, type OperationView } from '@longwave/command-pipeline';
import { startTestManagement, type TestManagement } from './_management.ts';
import { serveManagement } from './_serve.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let served: Awaited<ReturnType<typeof serveManagement>>;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  served = stack.use(await serveManagement(management));
});
afterAll(() => stack.disposeAsync());

/** Sends a command as hosting-exchange. */
async function execute(
  workspaceId: string,
  commandType: string,
  subject: Pick<ResourceView, 'resource_type' | 'id'> | string,
  changes: object,
) {
  const [subjectType, subjectId] = typeof subject === 'string' ? [subject, ''] : [subject.resource_type, subject.id];
  const { operationJson } = await served.exchange.commands.execute(
    {
      ...{
        workspaceId,
        commandType,
        subjectType,
        subjectId,
        idempotencyKey: newId('req'),
        ifMatch: '',
        reasonJson: '',
      },
      changesJson: JSON.stringify(changes),
    },
    {},
  );
  return JSON.parse(operationJson) as OperationView;
}

const accept = async (world: World, workspaceId = world.workspaceId) =>
  execute(workspaceId, 'content_snapshot.accept', 'content_snapshots', {
    ...world.source(await world.platform(), 'ep-1'),
    content: world.content(),
  });

test('hosting-exchange acts and reads in the workspace that it names, and nowhere else', async () => {
  const [world, other] = [createWorld(management), createWorld(management)];
  const operation = await accept(world);
  expect(operation).toMatchObject({ state: 'succeeded', workspace_id: world.workspaceId });
  const readOperation = (workspaceId: string) =>
    served.exchange.operations.getOperation({ workspaceId, operationId: operation.id }, {});
  expect(JSON.parse((await readOperation(world.workspaceId)).operationJson)).toMatchObject({ id: operation.id });
  const missing = { code: 'not_found' };
  for (const workspaceId of [other.workspaceId, '']) {
    await expect(readOperation(workspaceId)).rejects.toMatchObject(missing);
  }
  await expect(accept(world, '')).rejects.toMatchObject(missing);
  // The authority of another workspace is not active here.
  await expect(accept(world, other.workspaceId)).rejects.toMatchObject({ code: 'state_not_allowed' });
  const report = await world.report(await world.platform());
  const ready = (workspaceId: string) =>
    execute(workspaceId, 'platform_evidence.record_ready', report, { row_count: 1 });
  await expect(ready(other.workspaceId)).rejects.toMatchObject(missing);
  expect(await ready(world.workspaceId)).toMatchObject({ state: 'succeeded' });
});

test('hosting-exchange sends no command of people and none of management', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const denied = { code: 'permission_denied' };
  await expect(execute(world.workspaceId, 'podcast.archive', podcast, {})).rejects.toMatchObject(denied);
  const hosted = { title: 'A', language: 'en', hosted_by: { authority_id: newId('agr'), stream_id: 'show:1' } };
  await expect(execute(world.workspaceId, 'podcast.host_elsewhere', 'podcasts', hosted)).rejects.toMatchObject(denied);
});

test('the receipts of accepted messages form the chain of their workspace, which its keys and checkpoint verify', async () => {
  const world = createWorld(management);
  const { receipt_id: id } = await accept(world);
  const { receipts } = served.exchange;
  const { workspaceId } = world;
  await makeCheckpoint({
    pool: management.pool,
    sign: createCheckpointSigner(management.receiptKey),
    origin: 'https://api.longwave.example',
    everyMs: 1,
    now: management.clock(),
  });
  const exported = await receipts.exportChain({ workspaceId, after: 0, limit: 1000 }, {});
  const found = await receipts.getReceipt({ workspaceId, id: id }, {});
  expect(exported.receipts.find((each) => each.id === id)?.jws).toBe(found.jws);
  const { keys } = await receipts.listReceiptKeys({}, {});
  expect(keys[0]).toEqual({ kid: management.receiptKey.kid, x: management.receiptKey.x });
  const { proof } = await receipts.proveChain({ workspaceId }, {});
  expect(proof?.checkpoint).toBe((await receipts.getCheckpoint({}, {})).checkpoint);
  await expect(receipts.getReceipt({ workspaceId: newId('ws'), id: id }, {})).rejects.toMatchObject({
    code: 'not_found',
  });
  const { workspaceId: workspace_id, leafIndex: leaf_index, ...rest } = proof!;
  const lines = exported.receipts.map((each) => exportLine(each)).join('');
  const published = keys.map((key) => ({ kty: 'OKP', crv: 'Ed25519', ...key }));
  expect(await verifyChain(lines, published, { ...rest, workspace_id, leaf_index })).toMatchObject({ ok: true });
});
