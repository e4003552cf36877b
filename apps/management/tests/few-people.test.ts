import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader, type Actor, type OperationView, type ResourceReader } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { Role } from '@longwave/principal';
import { decodeJwt } from 'jose';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour, publisherOf, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';
import { keepPeople } from '../src/workspace/people/follow-people.ts';
import { listRoleHolders } from '../src/workspace/people/people-table.ts';

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

const cause = 'The customer asked for it.';

/** Sends a command and answers its operation. */
async function operationOf(
  world: World,
  commandType: string,
  subject: ResourceView,
  changes: object,
  actor: Actor,
  reason?: unknown,
): Promise<OperationView> {
  const request = { workspaceId: world.workspaceId, commandType, idempotencyKey: newId('req'), changes, reason };
  const at = { type: subject.resource_type, id: subject.id, version: subject.version };
  return JSON.parse((await management.execute({ ...request, subject: at }, actor)).operationJson) as OperationView;
}
/** The publisher of one podcast, acting there. */
const scopedTo = (podcastId: string, { workspaceId }: World, actor: Actor): Actor => ({
  ...publisherOf(workspaceId, podcastId, actor),
  podcastId,
});
const statementOf = async (world: World, receiptId: string) =>
  decodeJwt((await reader.getReceipt(world.workspaceId, receiptId)).jws);

test('one who works alone needs nobody: a single review becomes none, and operation and receipt say so', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  const operation = await operationOf(world, 'serving.release', await world.halt(), { cause }, owner.actor);
  const review = { declared: 'single', applied: 'none' };
  expect(operation).toMatchObject({ state: 'succeeded', review });
  expect(operation.review_task_id).toBeUndefined();
  expect(await reader.getOperation(world.workspaceId, operation.id)).toEqual(operation);
  expect(await statementOf(world, operation.receipt_id)).toMatchObject({ review });
});

test('a dual review is dual with two others, single with one and none with nobody, by who is there when it is requested', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  const workspace = await world.workspace();
  const configure = (name: string) =>
    operationOf(world, 'workspace.configure', workspace, { name }, owner.actor).then(({ review }) => review);
  const [first, second] = [await world.member(), await world.member()];
  expect(await configure('B')).toEqual({ declared: 'dual', applied: 'dual' });
  await second.leave();
  expect(await configure('C')).toEqual({ declared: 'dual', applied: 'single' });
  await first.leave();
  expect(await configure('D')).toEqual({ declared: 'dual', applied: 'none' });
});

test('a single review that waits stays single when further reviewers come', async () => {
  const world = createWorld(management);
  const [owner, first] = [await world.known(), await world.member()];
  const workspace = await world.workspace();
  const operation = await operationOf(world, 'workspace.configure', workspace, { name: 'B' }, owner.actor);
  await world.member();
  await world.member();
  await world.send('review.approve', await world.taskOf(workspace.id), {}, first.actor);
  await management.runApproved(world.workspaceId, operation.review_task_id!);
  const ended = await reader.getOperation(world.workspaceId, operation.id);
  expect(ended).toMatchObject({ state: 'succeeded', review: { declared: 'dual', applied: 'single' } });
  expect(await statementOf(world, ended.receipt_id)).toMatchObject({
    ...{ kind: 'authority', review: { declared: 'dual', applied: 'single' } },
    review_decisions: [{ verdict: 'approve', by: first.userId }],
  });
});

test('only people with a role of the review count: members without it, other workspaces and ended grants do not', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  await world.member(['viewer', 'editor', 'manager']);
  await createWorld(management).member();
  await world.granted({ role: 'reviewer', expires_at: world.inTime(hour) });
  management.aheadMs += 2 * hour;
  const release = async () =>
    (await operationOf(world, 'serving.release', await world.halt(), { cause }, owner.actor)).review?.applied;
  expect(await release()).toBe('none');
  const { grant } = await world.granted({ role: 'reviewer' });
  expect(await release()).toBe('single');
  await world.send('authority_grant.revoke', grant, { cause });
  expect(await release()).toBe('none');
});

test('a break plan for one podcast is reviewed by another publisher of that podcast, and without one by nobody', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  const [podcast, other] = [await world.podcast(), await world.podcast()];
  const unit = await world.show(podcast.id);
  const publish = async () =>
    operationOf(world, 'break_plan.publish', await world.breakPlan([unit.id]), {}, owner.actor);
  expect((await publish()).review).toEqual({ declared: 'host', applied: 'none' });
  await world.granted({ role: 'publisher', scope_filter: { podcast_ids: [other.id] } });
  expect((await publish()).review).toEqual({ declared: 'host', applied: 'none' });
  const host = await world.granted({ role: 'publisher', scope_filter: { podcast_ids: [podcast.id] } });
  const waiting = await publish();
  expect(waiting).toMatchObject({ state: 'waiting_review', review: { declared: 'host', applied: 'single' } });
  const task = await world.taskOf(waiting.subject.id);
  expect(task.attributes).toMatchObject({ podcast_id: podcast.id, required_roles: ['publisher'] });
  await world.send('review.approve', task, {}, scopedTo(podcast.id, world, host.actor));
  await management.runApproved(world.workspaceId, task.id);
  expect((await reader.getOperation(world.workspaceId, waiting.id)).state).toBe('succeeded');
});

test('an ad that a host reads is reviewed by another publisher of that podcast, any other ad by nobody', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  const [podcast, other] = [await world.podcast(), await world.podcast()];
  const submit = async (creative: ResourceView, more: object = {}) =>
    operationOf(world, 'creative.submit', creative, { disclosure: 'Advertisement', ...more }, owner.actor);
  const read = { host_podcast_id: podcast.id };
  expect((await submit(await world.hostReadCreative(), read)).review).toEqual({ declared: 'host', applied: 'none' });
  await world.granted({ role: 'publisher', scope_filter: { podcast_ids: [other.id] } });
  expect((await submit(await world.hostReadCreative(), read)).state).toBe('succeeded');
  await world.granted({ role: 'publisher', scope_filter: { podcast_ids: [podcast.id] } });
  const waiting = await submit(await world.hostReadCreative(), read);
  expect(waiting).toMatchObject({ state: 'waiting_review', review: { declared: 'host', applied: 'single' } });
  const task = await world.taskOf(waiting.subject.id);
  expect(task.attributes).toMatchObject({ podcast_id: podcast.id, required_roles: ['publisher'] });
  const produced = await submit(await world.preparedCreative());
  expect(produced).toMatchObject({ state: 'succeeded', review: { declared: 'policy', applied: 'none' } });
});

test('a review policy never takes the host away: nobody of its roles leaves the host, and two of them come after the host', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  const podcast = await world.podcast();
  const host = await world.granted({ role: 'publisher', scope_filter: { podcast_ids: [podcast.id] } });
  const rule = { command_types: ['creative.submit', 'advertiser.activate'], mode: 'dual', reviewer_roles: ['finance'] };
  await world.activePolicy({ kind: 'review', rules: { rules: [rule] } });
  const changes = { disclosure: 'Advertisement', host_podcast_id: podcast.id };
  const submit = async () =>
    operationOf(world, 'creative.submit', await world.hostReadCreative(), changes, owner.actor);
  const byHost = { state: 'waiting_review', review: { declared: 'host', applied: 'single' } };
  expect(await submit()).toMatchObject(byHost);
  const reviewer = await world.member();
  const activated = await operationOf(world, 'advertiser.activate', await world.advertiser(), {}, owner.actor);
  expect(activated).toMatchObject({ state: 'waiting_review', review: { applied: 'single' } });
  await reviewer.leave();
  const first = await world.member(['viewer', 'finance']);
  const waiting = await submit();
  expect(waiting).toMatchObject(byHost);
  expect((await world.taskOf(waiting.subject.id)).attributes['required_roles']).toEqual(['publisher']);

  const second = await world.member(['viewer', 'finance']);
  const strict = await submit();
  expect(strict).toMatchObject({ state: 'waiting_review', review: { declared: 'host', applied: 'dual' } });
  const task = await world.taskOf(strict.subject.id);
  expect(task.attributes).toMatchObject({
    ...{ mode: 'dual', podcast_id: podcast.id, first_approval_roles: ['publisher'], required_roles: ['finance'] },
  });
  const approve = async (actor: Actor) =>
    world.send('review.approve', await world.taskOf(strict.subject.id), {}, actor);
  for (const early of [first, second])
    await expect(approve(early.actor)).rejects.toMatchObject({ code: 'permission_denied' });
  await approve(scopedTo(podcast.id, world, host.actor));
  expect((await approve(first.actor)).lifecycle_state).toBe('approved');
});

test('an approved command fails when its requester has lost the role meanwhile, and is carried out while any grant gives it', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  const workspace = await world.workspace();
  for (const [leaves, state] of [
    [true, 'failed'],
    [false, 'succeeded'],
  ] as const) {
    const { grant, actor: grantee } = await world.granted({ role: 'admin' });
    const grants = [{ workspace_id: world.workspaceId, roles: ['viewer', 'admin'] as Role[] }];
    const actor: Actor = { ...grantee, principal: { ...grantee.principal, grants } };
    const waiting = await operationOf(world, 'workspace.configure', workspace, { name: 'B' }, actor);
    expect(waiting).toMatchObject({ state: 'waiting_review', subject: { version: workspace.version } });
    await world.send('review.approve', await world.taskOf(workspace.id), {}, owner.actor);
    if (leaves) await world.send('authority_grant.revoke', grant, { cause });
    await management.runApproved(world.workspaceId, waiting.review_task_id!);
    const ended = await reader.getOperation(world.workspaceId, waiting.id);
    expect(ended.state).toBe(state);
    expect(ended.subject.version).toBe(workspace.version + (leaves ? 0 : 1));
    if (leaves) expect(ended.problem).toMatchObject({ code: 'permission_denied' });
  }
});

test('the person of a corrected command names the review: the earlier request is withdrawn in the same step', async () => {
  const world = createWorld(management);
  const [owner, member] = [await world.known(), await world.member()];
  const workspace = await world.workspace();
  const configure = (name: string, reason?: unknown, actor: Actor = owner.actor) =>
    operationOf(world, 'workspace.configure', workspace, { name }, actor, reason);
  const first = await configure('Bee');
  const task = await world.taskOf(workspace.id);
  await world.send('review.request_changes', task, { note: 'One e.' }, member.actor);
  for (const corrects of [newId('rvt'), (await createWorld(management).waiting()).task.id])
    await expect(configure('Be', { corrects })).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(configure('Be', { corrects: task.id }, member.actor)).rejects.toMatchObject({
    code: 'permission_denied',
  });
  const second = await configure('Be', { corrects: task.id });
  expect(second).toMatchObject({
    ...{ state: 'waiting_review', consequences: [{ id: task.id, state: 'withdrawn', event: 'review.withdrawn' }] },
  });
  expect((await reader.getOperation(world.workspaceId, first.id)).state).toBe('cancelled');
  const next = await world.taskOf(workspace.id);
  expect(next.attributes).toMatchObject({ corrects: task.id, request: { changes: { name: 'Be' } } });
  await expect(configure('Bi', { corrects: task.id })).rejects.toMatchObject({ code: 'validation_failed' });
});

test('people are kept from events in any order, each version once', async () => {
  const world = createWorld(management);
  const { pool, clock } = management;
  const ids = { organization: newId('acc'), owner: newId('usr'), account: newId('acc'), member: newId('usr') };
  const event = (
    type: string,
    id: string,
    version: number,
    state: string,
    attributes: Record<string, unknown>,
    workspaceId: string,
  ) => ({
    ...{ id: newId('evt'), type: 'any', workspace_id: workspaceId, operation_id: newId('op') },
    subject: { type, id, version },
    occurred_at: clock().toISOString(),
    after: {
      ...{ resource_type: type, id, workspace_id: workspaceId, version, lifecycle_state: state, attributes, links: {} },
      ...{ digest: '', created_at: '', updated_at: '', updated_by: { operation_id: newId('op') } },
    },
  });
  const membership = newId('mbr');
  const joins = (version: number, state: string, permissions: string[]) =>
    event(
      'memberships',
      membership,
      version,
      state,
      { member_account_id: ids.account, permissions },
      world.workspaceId,
    );
  const events = [
    event('accounts', ids.organization, 1, 'active', {}, world.workspaceId),
    event('accounts', ids.organization, 2, 'active', { owner_user_id: ids.owner }, world.workspaceId),
    event('accounts', ids.account, 1, 'active', { owner_user_id: ids.member }, newId('ws')),
    joins(2, 'active', ['edit']),
    joins(3, 'active', ['edit', 'review']),
  ];
  expect(await listRoleHolders(pool, world.workspaceId, clock())).toBeUndefined();
  for (const one of [...events.toReversed(), ...events]) await keepPeople(pool, one);
  const holders = await listRoleHolders(pool, world.workspaceId, clock());
  expect(holders).toEqual([
    { person: ids.owner, roles: ['owner', 'publisher', 'trafficker', 'sales', 'admin'] },
    { person: ids.member, roles: ['viewer', 'editor', 'reviewer'] },
  ]);
  await keepPeople(pool, joins(4, 'ended', ['edit', 'review']));
  expect(await listRoleHolders(pool, world.workspaceId, clock())).toHaveLength(1);
});

test('a service and the operator need no review, whoever is there', async () => {
  const world = createWorld(management);
  await world.known();
  await world.member();
  const operation = await operationOf(world, 'serving.release', await world.halt(), { cause }, service('operator'));
  expect(operation).toMatchObject({ state: 'succeeded' });
  expect(operation.review).toBeUndefined();
});
