import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader, type OperationView, type ResourceReader } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { hour, service } from './_values.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let reader: ResourceReader;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  const { pool, clock } = management;
  reader = stack.use(
    createResourceReader({ pool, schema: 'product', catalog: productCatalog, cursorKey: randomBytes(32), clock }),
  );
});
afterAll(() => stack.disposeAsync());

const encoder = service('encoder');

/** An encoding that no worker has claimed yet. */
async function started(world: World): Promise<{ readonly id: string; readonly operation: OperationView }> {
  await world.setEncodingLimit(hour);
  const production = await world.production();
  const { operationJson } = await management.execute(
    {
      workspaceId: world.workspaceId,
      commandType: 'production.start',
      idempotencyKey: newId('req'),
      subject: { type: 'productions', id: production.id, version: production.version },
      changes: {},
    },
    world.actor,
  );
  return { id: production.id, operation: JSON.parse(operationJson) as OperationView };
}

test('asynchronous work is accepted until a worker claims it, then running, then terminal for good', async () => {
  const world = createWorld(management);
  const { id, operation } = await started(world);
  const read = () => reader.getOperation(world.workspaceId, operation.id);
  expect(operation).toMatchObject({ state: 'accepted', next_safe_action: 'poll', retry_after_s: 2 });
  expect(await read()).toEqual(operation);

  const lease = await world.lease('encode_production', id);
  expect(await read()).toMatchObject({ state: 'running', next_safe_action: 'poll', retry_after_s: 2 });
  const production = { resource_type: 'productions', id, version: operation.subject.version };
  const encoded = await world.send('production.complete', production, world.completion, encoder, lease);
  const succeeded = await read();
  expect(succeeded).toMatchObject({
    state: 'succeeded',
    subject: { id, version: encoded.version },
    result: { type: 'productions', id, version: encoded.version },
    next_safe_action: 'read_subject',
  });
  expect(succeeded).not.toHaveProperty('retry_after_s');
  await world.send('production.delete', encoded, {});
  expect(await read()).toEqual(succeeded);
});

test('failed work names its problem, and cancelled work leaves nothing to do', async () => {
  const world = createWorld(management);
  const [failing, stopped] = [await started(world), await started(world)];
  const lease = await world.lease('encode_production', failing.id);
  const problem = { code: 'media_not_audio', detail: 'The file is a text.' };
  const subject = ({ id, operation }: typeof failing) => ({
    resource_type: 'productions',
    id,
    version: operation.subject.version,
  });
  await world.send('production.fail', subject(failing), { problem }, encoder, lease);
  expect(await reader.getOperation(world.workspaceId, failing.operation.id)).toMatchObject({
    state: 'failed',
    problem,
    next_safe_action: 'repair_and_reissue',
  });
  await world.send('production.stop', subject(stopped), {});
  expect(await reader.getOperation(world.workspaceId, stopped.operation.id)).toMatchObject({
    state: 'cancelled',
    next_safe_action: 'none',
  });
});

test('a clone of a campaign names the clone as its result', async () => {
  const world = createWorld(management);
  const { campaign } = await world.booked();
  const { window } = campaign.attributes;
  const requested = await world.send('campaign.clone', campaign, { name: 'Again', window });
  const lease = await world.lease('clone_campaign', campaign.id);
  const cloneId = newId('cmp');
  await world.send('campaign.complete_clone', requested, { clone_id: cloneId }, service('management'), lease);
  const { operation_id: operationId } = requested.updated_by;
  expect(await reader.getOperation(world.workspaceId, operationId)).toMatchObject({
    state: 'succeeded',
    subject: { type: 'campaigns', id: campaign.id },
    result: { type: 'campaigns', id: cloneId },
  });
});

test('work that was asked of a provider is not cancelled, and its unclear outcome is reconciled', async () => {
  const world = createWorld(management);
  const { id, operation } = await started(world);
  const provider = { external_receipt: 'ext-7', ambiguity: 'unknown' };
  await management.pool.query('update operation set provider = $2 where id = $1', [operation.id, provider]);
  await world.lease('encode_production', id);
  const production = { resource_type: 'productions', id, version: operation.subject.version };
  await world.send('production.stop', production, {});
  expect(await reader.getOperation(world.workspaceId, operation.id)).toMatchObject({
    state: 'running',
    provider,
    next_safe_action: 'reconcile_provider',
  });
});

test('a service of release 0.3.0 that ends work during an upgrade also ends the operation that it does not know as accepted', async () => {
  const world = createWorld(management);
  const { id, operation } = await started(world);
  const own = newId('op');
  // Its statement of `production.stop`: a receipt without a kind.
  await management.pool.query(
    `with proof as (insert into receipt (id, workspace_id, seq, operation_id, jws) values ($3, $2, 1000, $1, 'jws'))
     insert into operation (id, workspace_id, client_id, command_type, state, subject_type, subject_id, subject_version, receipt_id, created_at, updated_at)
     values ($1, $2, 'crd', 'production.stop', 'succeeded', 'productions', $4, 3, $3, now(), now())`,
    [own, world.workspaceId, newId('rcp'), id],
  );
  expect(await reader.getOperation(world.workspaceId, operation.id)).toMatchObject({
    state: 'cancelled',
    subject: { version: 3 },
  });
});
