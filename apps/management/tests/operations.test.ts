import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader, type Actor, type OperationView, type ResourceReader } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { decodeJwt } from 'jose';
import { hour, person, service } from './_values.ts';
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
  const deleted = await world.send('production.delete', encoded, {});
  expect(await read()).toEqual({ ...succeeded, subject: { type: 'productions', id, version: deleted.version } });
});

test('an operation shows the present version of its subject, and the version that it made in result and receipt', async () => {
  const world = createWorld(management);
  const advertiser = await world.advertiser();
  const revised = await world.send('advertiser.revise', advertiser, { billing_ref: 'D-17' });
  const { operation_id: operationId } = advertiser.updated_by;
  const operation = await reader.getOperation(world.workspaceId, operationId);
  expect([operation.subject.version, operation.result?.version]).toEqual([revised.version, advertiser.version]);
  const { jws } = await reader.getReceipt(world.workspaceId, operation.receipt_id);
  expect(decodeJwt(jws)['subject']).toMatchObject({ version_before: 0, version_after: advertiser.version });

  const begun = await started(world);
  const cancelled = (await cancel(world, begun.operation)).operation;
  const ofCancelling = await reader.getOperation(world.workspaceId, cancelled.id);
  expect(ofCancelling.subject).toMatchObject({ type: 'operations', id: begun.operation.id, version: 2 });
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
  await expect(cancel(world, operation)).rejects.toMatchObject({ code: 'state_not_allowed' });
  await world.send('production.stop', production, {});
  expect(await reader.getOperation(world.workspaceId, operation.id)).toMatchObject({
    state: 'running',
    provider,
    next_safe_action: 'reconcile_provider',
  });
});

/** Cancels an operation; the reply's consequences are what changed. */
async function cancel(world: World, operation: Pick<OperationView, 'id'>, as: Actor = world.actor, key = newId('req')) {
  const outcome = await management.execute(
    {
      workspaceId: world.workspaceId,
      commandType: 'operation.cancel',
      idempotencyKey: key,
      subject: { type: 'operations', id: operation.id },
      changes: { cause: 'Started by mistake.' },
    },
    as,
  );
  return { ...outcome, operation: JSON.parse(outcome.operationJson) as OperationView };
}

test.each(['queued', 'claimed'] as const)(
  'cancelling %s work ends it by its command, in one transaction',
  async (when) => {
    const world = createWorld(management);
    const { id, operation } = await started(world);
    const lease = when === 'claimed' ? await world.lease('encode_production', id) : undefined;
    const key = newId('req');
    const cancelled = await cancel(world, operation, world.actor, key);
    expect(cancelled).toMatchObject({
      status: 200,
      operation: {
        state: 'succeeded',
        subject: { type: 'operations', id: operation.id, version: when === 'claimed' ? 3 : 2 },
        consequences: [{ type: 'productions', id, state: 'initial', event: 'production.stopped' }],
      },
      resource: { lifecycle_state: 'cancelled', state_reason: 'Started by mistake.' },
    });
    expect(await reader.getOperation(world.workspaceId, operation.id)).toMatchObject({
      state: 'cancelled',
      state_reason: 'Started by mistake.',
      next_safe_action: 'none',
    });
    expect(await cancel(world, operation, world.actor, key)).toEqual({ ...cancelled, replayed: true });
    await expect(cancel(world, operation)).rejects.toMatchObject({ code: 'state_not_allowed' });
    if (!lease) return;
    const production = { resource_type: 'productions', id, version: operation.subject.version + 1 };
    await expect(world.send('production.complete', production, world.completion, encoder, lease)).rejects.toMatchObject(
      { code: 'state_not_allowed' },
    );
    const { rows } = await management.pool.query(
      `select c.event_type, o.command_type from change c join operation o on o.id = c.operation_id
     where c.workspace_id = $1 order by c.seq desc, c.position desc limit 1`,
      [world.workspaceId],
    );
    expect(rows).toEqual([{ event_type: 'production.stopped', command_type: 'operation.cancel' }]);
  },
);

test('cancelling a command that waits for a review withdraws the review, and an approval comes too late', async () => {
  const world = createWorld(management);
  const { task, advertiser } = await world.waiting();
  const operationId = String(task.attributes['operation_id']);
  const { operation } = await cancel(world, { id: operationId });
  expect(operation.consequences).toMatchObject([{ type: 'review_tasks', id: task.id, state: 'withdrawn' }]);
  expect(await reader.getOperation(world.workspaceId, operationId)).toMatchObject({ state: 'cancelled' });
  await expect(world.send('review.approve', task, {}, world.reviewer)).rejects.toMatchObject({
    code: 'version_conflict',
  });
  await management.runApproved(world.workspaceId, task.id);
  expect(await reader.getResource(world.workspaceId, 'advertisers', advertiser.id)).toMatchObject({ version: 1 });
});

test('the requester and admins cancel, nobody else; work without an ending command goes on', async () => {
  const world = createWorld(management);
  const { operation } = await started(world);
  for (const role of ['editor', 'owner', 'reviewer'] as const)
    await expect(cancel(world, operation, person(world.workspaceId, [role]))).rejects.toMatchObject({
      code: 'permission_denied',
    });
  await expect(cancel(world, operation, person(newId('ws')))).rejects.toMatchObject({ code: 'not_found' });
  await cancel(world, operation, person(world.workspaceId, ['admin']));

  const { window } = (await world.campaign()).attributes;
  const cloned = await world.send('campaign.clone', await world.campaign(), { name: 'Again', window });
  const { operation_id: id } = cloned.updated_by;
  await expect(cancel(world, { id })).rejects.toMatchObject({ code: 'state_not_allowed' });
  expect(await reader.getOperation(world.workspaceId, id)).toMatchObject({ state: 'accepted' });
});

test('an export and the preparation of an ad are cancelled by their operation, and their workers report too late', async () => {
  const world = createWorld(management);
  const podcast_id = (await world.podcast()).id;
  const exported = await world.send('statistics_export.start', null, { podcast_id });
  const exportLease = await world.lease('export_statistics', exported.id);
  const { creative, lease } = await world.processingCreative();
  const cases = [
    [exported, 'cancelled', 'statistics_export.fail', service('management'), exportLease],
    [creative, 'draft', 'creative.fail_media', encoder, lease],
  ] as const;
  for (const [subject, state, report, worker, held] of cases) {
    const { operation_id: id } = subject.updated_by;
    expect((await cancel(world, { id })).operation).toMatchObject({ state: 'succeeded', consequences: [{ state }] });
    expect(await reader.getOperation(world.workspaceId, id)).toMatchObject({ state: 'cancelled' });
    const { version } = await reader.getResource(world.workspaceId, subject.resource_type, subject.id);
    const problem = { code: 'gave_up', detail: 'Not this time.' };
    await expect(world.send(report, { ...subject, version }, { problem }, worker, held)).rejects.toMatchObject({
      code: 'state_not_allowed',
    });
  }
  expect((await world.send('statistics_export.start', null, { podcast_id })).lifecycle_state).toBe('preparing');
  const again = await reader.getResource(world.workspaceId, 'creatives', creative.id);
  expect(again.attributes).not.toHaveProperty('upload_id');
  const upload_ref = (await world.upload()).id;
  expect((await world.send('creative.attach_media', again, { upload_ref })).lifecycle_state).toBe('processing');
  const prepared = await world.preparedCreative();
  await expect(world.send('creative.cancel_media', prepared, {})).rejects.toMatchObject({ code: 'state_not_allowed' });
});

test('a cancelled import keeps what it created, takes no report, and cannot be cancelled again', async () => {
  const world = createWorld(management);
  const podcast = await world.send('podcast.import_feed', null, { feed_url: `https://feeds.example/${newId('req')}` });
  const lease = await world.lease('import_feed', podcast.id);
  const { operation_id: id } = podcast.updated_by;
  expect((await cancel(world, { id })).operation.consequences).toMatchObject([{ event: 'podcast.import_cancelled' }]);
  expect(await reader.getOperation(world.workspaceId, id)).toMatchObject({ state: 'cancelled' });
  const kept = await reader.getResource(world.workspaceId, 'podcasts', podcast.id);
  expect(kept).toMatchObject({
    lifecycle_state: 'draft',
    attributes: { import: { problem: { code: 'import_cancelled' } } },
  });
  const counts = { done: 1, failed: 0 };
  await expect(world.send('podcast.complete_import', kept, counts, service('management'), lease)).rejects.toMatchObject(
    { code: 'lease_lost' },
  );
  await expect(world.send('podcast.cancel_import', kept, {})).rejects.toMatchObject({ code: 'state_not_allowed' });
});

test('of a cancellation and the end of the work at the same time exactly one wins', async () => {
  const world = createWorld(management);
  for (let round = 0; round < 8; round++) {
    const { id, operation } = await started(world);
    const lease = await world.lease('encode_production', id);
    const production = { resource_type: 'productions', id, version: operation.subject.version };
    const settled = await Promise.allSettled([
      world.send('production.complete', production, world.completion, encoder, lease),
      cancel(world, operation),
    ]);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { state } = await reader.getOperation(world.workspaceId, operation.id);
    expect(state).toBe(settled[1].status === 'fulfilled' ? 'cancelled' : 'succeeded');
  }
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
