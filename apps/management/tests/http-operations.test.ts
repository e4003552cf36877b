import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import {
  createCheckpointSigner,
  createResourceReader,
  makeCheckpoint,
  operationStates,
  publicReceiptKey,
  type Actor,
} from '@longwave/command-pipeline';
import { verifyChain } from '@longwave/command-pipeline/receipts';
import { newId } from '@longwave/ids';
import { serveHttp, type HttpAnswer } from './_http.ts';
import { api, management } from './_shared-http.ts';
import { guestIn, hour, person, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

/** Sends a command as the person of a world and answers the operation. */
async function command(world: World, type: string, subject: object, changes: object, as: Actor = world.actor) {
  const answer = await api.call(`/workspaces/${world.workspaceId}/commands/${type}`, {
    token: api.tokenFor(as),
    headers: { 'idempotency-key': newId('req') },
    body: { subject, changes },
  });
  return answer;
}
const readOperation = async (world: World, id: string) =>
  api.call(`/workspaces/${world.workspaceId}/operations/${id}`, { token: api.tokenFor(world.actor) });

async function startedEncoding(world: World) {
  await world.setEncodingLimit(hour);
  const production = await world.production();
  const subject = { type: 'productions', id: production.id, version: production.version };
  const { json, headers } = await command(world, 'production.start', subject, {});
  return { id: production.id, operation: json, headers };
}

test('every state of an operation is reached and read, and open ones say when to ask again', async () => {
  const world = createWorld(management);
  const seen = new Set<string>();
  const expectState = async (id: string, state: string, next: string) => {
    const { status, json, headers } = await readOperation(world, id);
    expect([status, json.state, json.next_safe_action]).toEqual([200, state, next]);
    expect(headers.get('retry-after')).toBe(json.retry_after_s === undefined ? null : String(json.retry_after_s));
    expect(json.retry_after_s === undefined).toBe(['succeeded', 'failed', 'cancelled'].includes(state));
    seen.add(state);
    return json;
  };
  const encoding = await startedEncoding(world);
  expect(encoding.operation.state).toBe('accepted');
  expect(encoding.headers.get('retry-after')).toBe('2');
  await expectState(encoding.operation.id, 'accepted', 'poll');
  const lease = await world.lease('encode_production', encoding.id);
  await expectState(encoding.operation.id, 'running', 'poll');
  const production = { resource_type: 'productions', id: encoding.id, version: 2 };
  await world.send('production.complete', production, world.completion, service('encoder'), lease);
  const done = await expectState(encoding.operation.id, 'succeeded', 'read_subject');
  expect(done.result).toEqual({ type: 'productions', id: encoding.id, version: 3 });

  const advertiser = await world.advertiser();
  const subject = { type: 'advertisers', id: advertiser.id, version: advertiser.version };
  const activation = await command(world, 'advertiser.activate', subject, {});
  expect(activation.status).toBe(202);
  await expectState(activation.json.id, 'waiting_review', 'await_review');
  const task = { type: 'review_tasks', id: activation.json.review_task_id, version: 1 };
  await command(world, 'review.decline', task, { note: 'Ask their bank first.' }, world.reviewer);
  const failed = await expectState(activation.json.id, 'failed', 'repair_and_reissue');
  expect(failed.problem).toEqual({ code: 'review_declined', detail: 'Ask their bank first.' });

  const stopped = await startedEncoding(world);
  const operation = { type: 'operations', id: stopped.operation.id };
  const cancelled = await command(world, 'operation.cancel', operation, { cause: 'Started by mistake.' });
  expect([cancelled.status, cancelled.json.state]).toEqual([200, 'succeeded']);
  expect((await readOperation(world, cancelled.json.id)).json).toEqual(cancelled.json);
  const receipt = await api.call(`/workspaces/${world.workspaceId}/receipts/${cancelled.json.receipt_id}`, {
    token: api.tokenFor(world.actor),
  });
  expect(receipt.json.statement).toMatchObject({
    command_type: 'operation.cancel',
    subject: { type: 'operations', id: stopped.operation.id },
    consequences: [{ type: 'productions', id: stopped.id }],
  });
  expect(await expectState(stopped.operation.id, 'cancelled', 'none')).toMatchObject({
    state_reason: 'Started by mistake.',
  });
  expect([...seen].sort()).toEqual([...operationStates].sort());
});

test('an open operation that is found by its key says when to ask again, like one that is read', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(hour);
  const { id, version } = await world.production();
  const token = api.tokenFor(world.actor);
  const key = newId('req');
  await api.call(`/workspaces/${world.workspaceId}/commands/production.start`, {
    ...{ token, headers: { 'idempotency-key': key } },
    body: { subject: { type: 'productions', id, version }, changes: {} },
  });
  const query = new URLSearchParams({ idempotency_key: key, command_type: 'production.start' });
  const { json, headers } = await api.call(`/workspaces/${world.workspaceId}/operations?${query.toString()}`, {
    token,
  });
  expect([json.state, headers.get('retry-after')]).toEqual(['accepted', String(json.retry_after_s)]);
});

test('work below an archived podcast can still be cancelled', async () => {
  const world = createWorld(management);
  const { id, operation } = await startedEncoding(world);
  const { rows } = await management.pool.query<{ id: string; version: number }>(
    `select p.id, p.version from resource p, resource e, resource d where d.id = $1
       and e.id = d.attributes ->> 'episode_id' and p.id = e.attributes ->> 'podcast_id'`,
    [id],
  );
  await world.send('podcast.archive', { resource_type: 'podcasts', ...rows[0]! }, {});
  const subject = { type: 'operations', id: operation.id };
  const cancelled = await command(world, 'operation.cancel', subject, { cause: 'The podcast has ended.' });
  expect([cancelled.status, cancelled.json.consequences]).toMatchObject([200, [{ type: 'productions', id }]]);
});

test('an operation of another workspace, or of another podcast, is cancelled like a missing one: not found', async () => {
  const world = createWorld(management);
  const { operation } = await startedEncoding(world);
  const elsewhere = await world.podcast();
  const guest = person(newId('ws'));
  if (guest.kind !== 'principal') throw new Error('a person');
  const grants = [
    { workspace_id: world.workspaceId, podcast_id: elsewhere.id, roles: ['owner' as const, 'admin' as const] },
  ];
  const strangers: Actor[] = [guest, { ...guest, principal: { ...guest.principal, grants } }];
  for (const stranger of strangers) {
    const answers = await Promise.all(
      [operation.id, newId('op')].map(async (id) => {
        const answer = await command(world, 'operation.cancel', { type: 'operations', id }, { cause: 'No.' }, stranger);
        return [answer.status, answer.json.code, answer.json.detail.replace(id, 'ID')];
      }),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]!.slice(0, 2)).toEqual([404, 'not_found']);
  }
});

test('a workspace’s chain is exported, proved by the hourly checkpoint, and verified without the service', async () => {
  const world = createWorld(management);
  const others = [createWorld(management), createWorld(management), createWorld(management)];
  for (const each of [world, ...others, world, world]) await each.podcast();
  const sign = createCheckpointSigner(management.receiptKey);
  const make = (now: Date) =>
    makeCheckpoint({ pool: management.pool, sign, origin: 'http://api.test/management/v1', everyMs: hour, now });
  const token = api.tokenFor(world.actor);
  const path = `/workspaces/${world.workspaceId}`;
  expect((await api.call('/checkpoint')).status).toBe(404);
  const now = management.clock();
  expect(await Promise.all([make(now), make(now)])).toEqual(expect.arrayContaining([true, false]));
  await world.podcast();

  const exported = await api.call(`${path}/receipts`, { token });
  expect([exported.status, exported.headers.get('content-type')]).toEqual([200, 'application/jsonl']);
  const proof = await api.call(`${path}/checkpoint`, { token });
  expect(proof.json).toMatchObject({ workspace_id: world.workspaceId, seq: 3 });
  const keys = [publicReceiptKey(management.receiptKey)];
  const found = await verifyChain(exported.text, keys, proof.json);
  expect(found).toMatchObject({ ok: true, workspaceId: world.workspaceId, receipts: 4 });
  const rest = await api.call(`${path}/receipts?after=3`, { token });
  expect(exported.text.endsWith(rest.text)).toBe(true);
  expect(rest.text.trim().split('\n')).toHaveLength(1);

  const newest = await api.call('/checkpoint');
  expect(newest.json).toMatchObject({
    checkpoint: proof.json.checkpoint,
    statement: { number: 1, prev: '0'.repeat(64) },
  });
  expect(newest.json.statement.size).toBeGreaterThanOrEqual(4);
  expect(await make(new Date(now.getTime() + hour - 1))).toBe(false);
  expect(await make(new Date(now.getTime() + hour))).toBe(true);
  const later = await api.call(`${path}/checkpoint`, { token });
  expect(await verifyChain(exported.text, keys, later.json)).toMatchObject({ ok: true });
  expect(later.json.seq).toBe(4);
});

test('a chain of commands is exported to who may read all that it says, its proof and single receipts to others too; and a chain without a checkpoint has no proof yet', async () => {
  const world = createWorld(management);
  const { id } = await world.podcast();
  const visitor = guestIn(world.workspaceId, person(newId('ws')), ['viewer']);
  const publisher = guestIn(world.workspaceId, person(newId('ws')), ['viewer', 'publisher', 'manager']);
  const accountant = guestIn(world.workspaceId, person(newId('ws')), ['viewer', 'finance']);
  const stranger = person(newId('ws'));
  if (stranger.kind !== 'principal') throw new Error('a person');
  const grants = [{ workspace_id: world.workspaceId, podcast_id: id, roles: ['owner' as const] }];
  const collaborator: Actor = { ...stranger, principal: { ...stranger.principal, grants } };
  for (const [actor, status] of [
    [world.actor, 200],
    [visitor, 403],
    [publisher, 403],
    [accountant, 200],
    [stranger, 404],
    [collaborator, 404],
  ] as const) {
    const token = api.tokenFor(actor);
    const { status: exported, text } = await api.call(`/workspaces/${world.workspaceId}/receipts`, { token });
    expect(exported).toBe(status);
    if (status === 403) expect(text).toContain('billing_statements, ');
    expect((await api.call(`/workspaces/${world.workspaceId}/checkpoint`, { token })).status).toBe(404);
  }
  for (const kind of ['receipts', 'checkpoint']) {
    const path = `/workspaces/${world.workspaceId}/${kind}?chain=authority`;
    const answers = await Promise.all(
      [world.actor, visitor, stranger].map(
        async (actor) => (await api.call(path, { token: api.tokenFor(actor) })).status,
      ),
    );
    expect([kind, answers]).toEqual([kind, [kind === 'receipts' ? 200 : 404, 403, 404]]);
  }
  const token = api.tokenFor(world.actor);
  expect((await api.call(`/workspaces/${world.workspaceId}/receipts?after=x`, { token })).status).toBe(422);
  const { rows } = await management.pool.query('select kind from receipt where workspace_id = $1', [world.workspaceId]);
  expect(rows).toEqual([{ kind: 'command' }]);
  await world.provisioned();
  const { text } = await api.call(`/workspaces/${world.workspaceId}/receipts?after=1`, { token });
  const { jws } = JSON.parse(text) as { jws: string };
  expect(JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString())).toMatchObject({
    kind: 'authority',
    policy_versions: [],
    review: { declared: 'none', applied: 'none' },
  });
});

test('those who manage members read a receipt of the authority chain; for others there is none, as for an unknown id', async () => {
  const world = createWorld(management);
  const authority = createWorld(management);
  await authority.podcast();
  const { rows } = await management.pool.query<{ readonly id: string; readonly jws: string }>(
    'select id, jws from receipt where workspace_id = $1',
    [authority.workspaceId],
  );
  const { id, jws } = rows[0]!;
  await using reader = createResourceReader({
    ...{ pool: management.pool, schema: 'product', catalog: productCatalog, clock: management.clock },
    cursorKey: randomBytes(32),
  });
  // The receipts of another workspace stand in for those of auth-server.
  await using server = await serveHttp(management, {
    getAuthorityReceipt: (workspaceId, receiptId) =>
      reader.getReceipt(workspaceId === world.workspaceId ? authority.workspaceId : workspaceId, receiptId),
  });
  const read = (actor: Actor, receiptId: string) =>
    server.call(`/workspaces/${world.workspaceId}/receipts/${receiptId}`, { token: server.tokenFor(actor) });
  const found = await read(world.actor, id);
  expect([found.status, found.json]).toMatchObject([200, { id, jws, workspace_id: world.workspaceId }]);
  expect(found.json.operation_id).toBe(found.json.statement.operation_id);
  const visitor = guestIn(world.workspaceId, person(newId('ws')), ['viewer']);
  const unknown = newId('rcp');
  const like = ({ status, json }: HttpAnswer) => [status, json.code, json.detail.replaceAll(/rcp_\w+/g, 'ID')];
  const missing = like(await read(world.actor, unknown));
  expect(missing.slice(0, 2)).toEqual([404, 'not_found']);
  expect([like(await read(visitor, id)), like(await read(visitor, unknown))]).toEqual([missing, missing]);
});

test('below an archived podcast a used key still gets its first answer, and operations and receipts stay readable', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const grants = [{ workspace_id: world.workspaceId, podcast_id: podcast.id, roles: ['owner' as const] }];
  const stranger = person(newId('ws'));
  if (stranger.kind !== 'principal') throw new Error('a person');
  const collaborator: Actor = { ...stranger, principal: { ...stranger.principal, grants } };
  const at = `/workspaces/${world.workspaceId}`;
  const creation = (token: string, key: string) =>
    api.call(`${at}/commands/episode.create`, {
      token,
      headers: { 'idempotency-key': key },
      body: { subject: { type: 'episodes', id: null }, changes: { podcast_id: podcast.id, title: 'One' } },
    });
  const senders = [world.actor, collaborator].map((actor) => ({ token: api.tokenFor(actor), key: newId('req') }));
  const firsts = await Promise.all(senders.map(({ token, key }) => creation(token, key)));
  await world.send('podcast.archive', podcast, {});
  for (const [index, { token, key }] of senders.entries()) {
    const first = firsts[index]!;
    const { id, receipt_id: receiptId, subject } = first.json;
    const again = await creation(token, key);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await creation(token, newId('req'))).json.code).toBe('not_found');
    const found = await api.call(`${at}/operations?idempotency_key=${key}&command_type=episode.create`, { token });
    const read = await api.call(`${at}/operations/${id}`, { token });
    expect([found.text, read.text]).toEqual([first.text, first.text]);
    expect((await api.call(`${at}/receipts/${receiptId}`, { token })).json.operation_id).toBe(id);
    expect((await api.call(`${at}/resources/episodes/${subject.id}`, { token })).status).toBe(404);
  }
  const elsewhere = api.tokenFor(person(newId('ws')));
  expect((await api.call(`${at}/operations/${firsts[0]!.json.id}`, { token: elsewhere })).status).toBe(404);
});

/** Locks a resource until released. */
async function heldRow(id: string) {
  const client = await management.pool.connect();
  await client.query('begin');
  await client.query('select 1 from resource where id = $1 for update', [id]);
  let isHeld = true;
  const release = async () => {
    if (!isHeld) return;
    isHeld = false;
    await client.query('rollback');
    client.release();
  };
  return { release, [Symbol.asyncDispose]: release };
}

/** A command that waits for a review, with its operation and a way to cancel that. */
async function waitingReview() {
  const world = createWorld(management);
  const { advertiser, task } = await world.waiting();
  const operationId = String(task.attributes['operation_id']);
  const cancel = () =>
    command(world, 'operation.cancel', { type: 'operations', id: operationId }, { cause: 'A mistake.' });
  return { world, advertiser, task, operationId, cancel };
}

test('an approved command can no longer be cancelled, and is carried out', async () => {
  const { world, advertiser, task, operationId, cancel } = await waitingReview();
  await world.send('review.approve', task, {}, world.reviewer);
  const refused = await cancel();
  expect([refused.status, refused.json.code]).toEqual([409, 'idempotency_in_progress']);
  expect(await world.taskOf(advertiser.id)).toMatchObject({ lifecycle_state: 'approved', version: 2 });
  await management.runApproved(world.workspaceId, task.id);
  expect((await readOperation(world, operationId)).json.state).toBe('succeeded');
});

test('of a cancellation and the expiry of its review one wins, whichever comes first', async () => {
  const { world, advertiser, task, operationId, cancel } = await waitingReview();
  const late = await waitingReview();
  management.aheadMs += 7 * 24 * hour;
  const [cancelled, expired] = await Promise.allSettled([
    cancel(),
    world.send('review.expire', task, {}, service('management')),
  ]);
  const isCancelled = cancelled.status === 'fulfilled' && cancelled.value.status === 200;
  const { lifecycle_state: state, version } = await world.taskOf(advertiser.id);
  const operation = (await readOperation(world, operationId)).json;
  expect([expired.status, state, operation.state, version]).toEqual(
    isCancelled ? ['rejected', 'withdrawn', 'cancelled', 2] : ['fulfilled', 'expired', 'failed', 2],
  );
  await late.world.send('review.expire', late.task, {}, service('management'));
  const refused = await late.cancel();
  expect([refused.status, refused.json.code]).toEqual([422, 'state_not_allowed']);
  expect(await late.world.taskOf(late.advertiser.id)).toMatchObject({ lifecycle_state: 'expired', version: 2 });
});

test('while another command holds the subject, the difference of a review is in progress', async () => {
  const { world, advertiser, task } = await waitingReview();
  await using held = await heldRow(advertiser.id);
  const path = `/workspaces/${world.workspaceId}/resources/review_tasks/${task.id}/difference`;
  const token = api.tokenFor(world.actor);
  const refused = await api.call(path, { token });
  expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([
    409,
    'idempotency_in_progress',
    '1',
  ]);
  await held.release();
  expect((await api.call(path, { token })).status).toBe(200);
});
