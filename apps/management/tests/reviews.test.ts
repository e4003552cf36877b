import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import {
  createResourceReader,
  receiptHash,
  type Actor,
  type OperationView,
  type ResourceReader,
} from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { compactVerify, importJWK } from 'jose';
import { startFollowed, type Followed } from './_followed.ts';
import { hour, person, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let followed: Followed;
let management: Followed['management'];
let reader: ResourceReader;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  followed = stack.use(await startFollowed());
  ({ management } = followed);
  const { pool, clock } = management;
  reader = stack.use(
    createResourceReader({ pool, schema: 'product', catalog: productCatalog, cursorKey: randomBytes(32), clock }),
  );
});
afterAll(() => stack.disposeAsync());

const cause = 'The customer asked for it.';
const note = 'Ask their bank first.';
const denied = { code: 'permission_denied', status: 403 };
const versionOf = async (id: string) => (await followed.read(id)).version;
const operationOf = (world: World, task: ResourceView) =>
  reader.getOperation(world.workspaceId, String(task.attributes['operation_id']));

/** Waits until the operation of a task has ended. */
async function settled(world: World, task: ResourceView): Promise<OperationView> {
  for (;;) {
    const operation = await operationOf(world, task);
    if (!['waiting_review', 'running'].includes(operation.state)) return operation;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a command that needs a review changes nothing and waits; its operation says so, and a replay says the same', async () => {
  const world = createWorld(management);
  const advertiser = await world.advertiser();
  const request = {
    workspaceId: world.workspaceId,
    commandType: 'advertiser.activate',
    idempotencyKey: newId('req'),
    subject: { type: 'advertisers', id: advertiser.id, version: advertiser.version },
    changes: {},
  };
  const first = await management.execute(request, world.actor);
  expect(first).toMatchObject({ status: 202, resource: { version: 1, lifecycle_state: 'draft' } });
  const operation = JSON.parse(first.operationJson) as OperationView;
  expect(operation).toMatchObject({ state: 'waiting_review', next_safe_action: 'await_review' });
  expect(await reader.getOperation(world.workspaceId, operation.id)).toEqual(operation);
  const task = await reader.getResource(world.workspaceId, 'review_tasks', operation.review_task_id!);
  expect(task).toMatchObject({
    lifecycle_state: 'open',
    attributes: {
      operation_id: operation.id,
      command_type: 'advertiser.activate',
      subject: { type: 'advertisers', id: advertiser.id, version: 1 },
      mode: 'single',
      required_roles: ['reviewer', 'finance', 'admin'],
      decisions: [],
    },
  });
  await world.send('review.approve', task, {}, world.reviewer);
  await settled(world, task);
  expect(await management.execute(request, world.actor)).toMatchObject({
    operationJson: first.operationJson,
    status: 202,
    replayed: true,
    resource: { lifecycle_state: 'active' },
  });
});

test('a command that would be refused is refused before a review; services and operators need no review', async () => {
  const world = createWorld(management);
  const advertiser = await world.activeAdvertiser();
  expect(advertiser.lifecycle_state).toBe('active');
  await expect(world.send('advertiser.activate', advertiser, {})).rejects.toMatchObject({ code: 'state_not_allowed' });
  const { lineItem } = await world.booked();
  await expect(world.send('line_item.stop', lineItem, { cause })).rejects.toMatchObject({ code: 'state_not_allowed' });
  expect(await world.taskOf(lineItem.id)).toBeUndefined();
});

test('an approved command is executed once, under its operation, with a second receipt that names the reviewers', async () => {
  const world = createWorld(management);
  const { advertiser, task } = await world.waiting();
  const approved = await world.send('review.approve', task, { note: 'Known for years.' }, world.reviewer);
  const operation = await settled(world, task);
  expect(operation).toMatchObject({
    state: 'succeeded',
    next_safe_action: 'read_subject',
    subject: { id: advertiser.id, version: 2 },
  });
  expect(await reader.getResource(world.workspaceId, 'advertisers', advertiser.id)).toMatchObject({
    version: 2,
    lifecycle_state: 'active',
    updated_by: { operation_id: operation.id },
  });
  await management.runApproved(world.workspaceId, task.id);
  expect(await versionOf(advertiser.id)).toBe(2);

  const { rows } = await management.pool.query<{ id: string; jws: string }>(
    'select id, jws from receipt where workspace_id = $1 order by seq',
    [world.workspaceId],
  );
  const key = await importJWK(management.publicKey, 'EdDSA');
  let prev = '0'.repeat(64);
  for (const { jws } of rows) {
    const statement = JSON.parse(Buffer.from((await compactVerify(jws, key)).payload).toString());
    expect(statement.chain.prev).toBe(prev);
    prev = receiptHash(jws);
    if (statement.id !== operation.receipt_id) continue;
    expect(statement).toMatchObject({
      operation_id: operation.id,
      subject: { version_before: 1, version_after: 2 },
      review_decisions: approved.attributes['decisions'],
    });
  }
  expect(rows.map(({ id }) => id)).toContain(operation.receipt_id);
});

test('nobody reviews an own command, with whatever credential, and only roles that the task names review', async () => {
  const world = createWorld(management);
  const { task } = await world.waiting();
  const self = world.actor;
  if (self.kind !== 'principal') throw new Error('a person');
  const otherCredential: Actor = {
    kind: 'principal',
    principal: { ...self.principal, credential_id: newId('crd'), roles: ['reviewer', 'finance', 'admin'] },
  };
  const publisher = person(world.workspaceId, ['publisher']);
  for (const actor of [world.actor, otherCredential, publisher])
    for (const command of ['review.approve', 'review.decline', 'review.request_changes'] as const)
      await expect(world.send(command, task, { note }, actor)).rejects.toMatchObject(denied);
  await expect(world.send('review.withdraw', task, {}, world.reviewer)).rejects.toMatchObject(denied);
  await expect(
    world.send('review.approve', task, {}, person(newId('ws'), ['reviewer', 'admin'])),
  ).rejects.toMatchObject({ code: 'not_found' });
  expect((await operationOf(world, task)).state).toBe('waiting_review');
});

test('a person who works alone is not stuck: the operator reviews, and pausing needs no review', async () => {
  const world = createWorld(management);
  const halt = await world.halt();
  await world.send('serving.release', halt, { cause });
  const task = await world.taskOf(halt.id);
  await world.send('review.approve', task, {}, service('operator'));
  expect((await settled(world, task)).state).toBe('succeeded');
  expect(await followed.read(halt.id)).toMatchObject({ lifecycle_state: 'released' });
  const { lineItem } = await world.delivering();
  expect(await world.send('line_item.pause', lineItem, { cause })).toMatchObject({ lifecycle_state: 'paused' });
});

test('the same command waits once for a version of its subject: a second request names the review, whoever sends it and why', async () => {
  const world = createWorld(management);
  const { advertiser, task } = await world.waiting();
  const again = (actor: Actor = person(world.workspaceId, ['sales'])) =>
    world.send('advertiser.activate', advertiser, {}, actor);
  const refused = {
    ...{ code: 'review_waiting', status: 409 },
    context: {
      subject: { type: 'review_tasks', id: task.id, version: task.version },
      operationId: task.attributes['operation_id'],
    },
  };
  for (const actor of [world.actor, person(world.workspaceId, ['sales'])])
    await expect(again(actor)).rejects.toMatchObject(refused);
  await world.send('review.request_changes', task, { note }, world.reviewer);
  await expect(again()).rejects.toMatchObject({ code: 'review_waiting' });
  // Of two at once one waits.
  await world.send('review.withdraw', { ...task, version: task.version + 1 }, {});
  const both = await Promise.allSettled([again(), again()]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(both.find((one) => one.status === 'rejected')?.reason).toMatchObject({ code: 'review_waiting' });
});

test('commands with other changes, and the same one for a newer version, wait side by side', async () => {
  const world = createWorld(management);
  const { lineItem } = await world.delivering();
  const stop = (changes: object) => world.send('line_item.stop', lineItem, changes);
  await stop({ cause });
  await expect(stop({ cause: 'Another reason for the same.' })).rejects.toMatchObject({ code: 'review_waiting' });
  const paused = await world.send('line_item.pause', lineItem, { cause });
  expect(await world.send('line_item.stop', paused, { cause })).toBeDefined();
});

test('an approved command is executed against the version for which it was requested, or not at all', async () => {
  const world = createWorld(management);
  const { advertiser, task } = await world.waiting();
  await world.send('advertiser.revise', advertiser, { legal_name: 'Tidewater Holding' });
  await world.send('review.approve', task, {}, world.reviewer);
  expect(await settled(world, task)).toMatchObject({
    state: 'failed',
    problem: { code: 'version_conflict' },
    next_safe_action: 'repair_and_reissue',
  });
  expect(await followed.read(advertiser.id)).toMatchObject({ version: 2, lifecycle_state: 'draft' });
});

test('of two commands that wait for one subject, the first approved one is executed and the other fails', async () => {
  const world = createWorld(management);
  const workspace = await world.workspace();
  const tasks: ResourceView[] = [];
  for (const name of ['Bee', 'Wasp']) {
    await world.send('workspace.configure', workspace, { name });
    tasks.push(await world.taskOf(workspace.id));
  }
  const approve = async (task: ResourceView) => {
    for (const version of [task.version, task.version + 1])
      await world.send('review.approve', { ...task, version }, {}, person(world.workspaceId, ['admin']));
  };
  await Promise.all(tasks.map(approve));
  const states = await Promise.all(tasks.map(async (each) => (await settled(world, each)).state));
  expect(states.sort()).toEqual(['failed', 'succeeded']);
  expect(await versionOf(workspace.id)).toBe(workspace.version + 1);
});

test('a declined command fails with the reason, a withdrawn one is cancelled, and neither changes anything', async () => {
  const world = createWorld(management);
  const [declined, withdrawn] = [await world.waiting(), await world.waiting()];
  await world.send('review.decline', declined.task, { note }, world.reviewer);
  expect(await operationOf(world, declined.task)).toMatchObject({
    state: 'failed',
    problem: { code: 'review_declined', detail: note },
  });
  await world.send('review.withdraw', withdrawn.task, {});
  expect(await operationOf(world, withdrawn.task)).toMatchObject({ state: 'cancelled' });
  for (const { advertiser, task } of [declined, withdrawn]) {
    await management.runApproved(world.workspaceId, task.id);
    expect(await versionOf(advertiser.id)).toBe(1);
  }
});

test('after a request for changes the command can be withdrawn, or approved after all', async () => {
  const world = createWorld(management);
  const [one, other] = [await world.waiting(), await world.waiting()];
  const asked = async (task: ResourceView) => world.send('review.request_changes', task, { note }, world.reviewer);
  await world.send('review.withdraw', await asked(one.task), {});
  expect((await operationOf(world, one.task)).state).toBe('cancelled');
  const approved = await world.send('review.approve', await asked(other.task), {}, world.reviewer);
  expect(approved.attributes['decisions']).toMatchObject([
    { verdict: 'request_changes', note },
    { verdict: 'approve' },
  ]);
  expect((await settled(world, other.task)).state).toBe('succeeded');
});

test('a review that nobody decides expires after a week, not before, and fails the operation', async () => {
  const world = createWorld(management);
  const { advertiser, task } = await world.waiting();
  await expect(world.send('review.expire', task, {}, service('management'))).rejects.toMatchObject({
    code: 'state_not_allowed',
  });
  await using _clock = followed.runClock();
  management.aheadMs += 7 * 24 * hour;
  await followed.until(task.id, ({ lifecycle_state: state }) => state === 'expired');
  expect(await operationOf(world, task)).toMatchObject({ state: 'failed', problem: { code: 'review_expired' } });
  expect(await versionOf(advertiser.id)).toBe(1);
});

test('an approved asynchronous command ends its operation later: a cancelled campaign ends its line items, then its operation', async () => {
  const world = createWorld(management);
  const { campaign, lineItem } = await world.booked();
  await world.send('campaign.cancel', campaign, { cause });
  const task = await world.taskOf(campaign.id);
  expect(task.attributes['request']).toMatchObject({ changes: { cause } });
  await world.send('review.approve', task, {}, person(world.workspaceId, ['finance']));
  expect((await settled(world, task)).state).toBe('succeeded');
  expect(await followed.read(campaign.id)).toMatchObject({ lifecycle_state: 'cancelled' });
  expect(await followed.read(lineItem.id)).toMatchObject({ lifecycle_state: 'cancelled' });
});

test('an approval survives a crash: the next attempt executes the command once', async () => {
  const world = createWorld(management);
  const { advertiser, task } = await world.waiting();
  await world.send('review.approve', task, {}, world.reviewer);
  await Promise.all([1, 2, 3].map(() => management.runApproved(world.workspaceId, task.id)));
  expect((await settled(world, task)).state).toBe('succeeded');
  expect(await versionOf(advertiser.id)).toBe(2);
});
