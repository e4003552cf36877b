import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Actor, OperationView } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { decodeJwt } from 'jose';
import { keyPair, userIn } from './_authority.ts';
import { startFollowed, type Followed } from './_followed.ts';
import { serveHttp } from './_http.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';
import { thumbprintOf } from '../src/workspace/authority/key-proof.ts';
import { saveUser } from '../src/workspace/people/people-table.ts';

let followed: Followed;
let management: Followed['management'];
let http: Awaited<ReturnType<typeof serveHttp>>;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  followed = stack.use(await startFollowed());
  ({ management } = followed);
  http = stack.use(await serveHttp(management));
});
afterAll(() => stack.disposeAsync());

const cause = 'The contract has ended.';
const operator = service('operator');

/** The Management API as one person sees it, at one grant. */
function visitor(world: World, actor: Actor) {
  const token = http.tokenFor(actor);
  const root = `/workspaces/${world.workspaceId}`;
  return {
    read: (id: string, type = 'authority_grants') => http.call(`${root}/resources/${type}/${id}`, { token }),
    list: () => http.call(`${root}/resources/authority_grants`, { token }),
    command: (type: string, id: string, changes: object = {}) =>
      http.call(`${root}/commands/${type}`, {
        ...{ method: 'POST', token, headers: { 'idempotency-key': newId('req') } },
        body: { subject: { type: `${type.split('.')[0]}s`, id }, changes },
      }),
    operation: (id: string) => http.call(`${root}/operations/${id}`, { token }),
  };
}

test('a proposed grant is seen by its grantee and nobody else outside the workspace; the grantee sees nothing besides', async () => {
  const world = createWorld(management);
  const grantee = userIn();
  const grant = await world.proposed({ user_id: grantee.userId });
  const other = await world.proposed();
  const [asGrantee, asStranger] = [visitor(world, grantee.actor), visitor(world, userIn().actor)];
  expect((await asGrantee.read(grant.id)).json).toMatchObject({ id: grant.id, lifecycle_state: 'proposed' });
  for (const [who, id] of [
    [asGrantee, other.id],
    [asStranger, grant.id],
  ] as const) {
    expect((await who.read(id)).status).toBe(404);
    expect((await who.command('authority_grant.activate', id)).status).toBe(404);
  }
  expect((await asGrantee.list()).status).toBe(404);
  expect((await asGrantee.read(world.workspaceId, 'workspaces')).status).toBe(404);
  expect((await asGrantee.command('podcast.publish', (await world.podcast()).id)).status).toBe(404);
});

test('the grantee alone activates a grant, and can give it back; an admin of the workspace, a service and the operator cannot activate it', async () => {
  const world = createWorld(management);
  const grantee = userIn();
  const grant = await world.proposed({ user_id: grantee.userId });
  for (const actor of [world.actor, operator, service('management')])
    await expect(world.send('authority_grant.activate', grant, {}, actor)).rejects.toMatchObject({
      code: 'permission_denied',
    });
  expect((await visitor(world, world.actor).command('authority_grant.activate', grant.id)).status).toBe(403);
  const asGrantee = visitor(world, grantee.actor);
  const activated = await asGrantee.command('authority_grant.activate', grant.id);
  expect(activated).toMatchObject({ status: 200, json: { state: 'succeeded' } });
  expect((await asGrantee.operation(activated.json.id)).json).toEqual(activated.json);
  expect((await asGrantee.read(grant.id)).json).toMatchObject({
    lifecycle_state: 'active',
    attributes: { grantee_user_id: grantee.userId },
  });
  expect((await asGrantee.command('authority_grant.revoke', grant.id, { cause })).status).toBe(200);
  expect((await asGrantee.read(grant.id)).status).toBe(404);
});

test('a grant to an address waits for who proves the address, also for somebody who has no account yet', async () => {
  const world = createWorld(management);
  const late = userIn();
  const email = `${late.userId}@example.org`;
  const grant = await world.proposed({ email });
  const asLate = visitor(world, late.actor);
  expect((await asLate.read(grant.id)).status).toBe(404);
  await saveUser(management.pool, { id: late.userId, email, version: 2 });
  expect((await asLate.read(grant.id)).status).toBe(200);
  await saveUser(management.pool, { id: late.userId, email: undefined, version: 1 });
  expect((await asLate.command('authority_grant.activate', grant.id)).status).toBe(200);
  // Whoever has the address later is not the grantee.
  const heir = userIn();
  await saveUser(management.pool, { id: late.userId, email: undefined, version: 3 });
  await saveUser(management.pool, { id: heir.userId, email, version: 1 });
  expect((await visitor(world, heir.actor).read(grant.id)).status).toBe(404);
});

test('nobody proposes a grant to themselves, in the past, or for podcasts of another workspace', async () => {
  const world = createWorld(management);
  const owner = await world.known();
  const elsewhere = await createWorld(management).podcast();
  const propose = (grantee: Record<string, string>, more: object = {}) =>
    world.send('authority_grant.propose', null, world.grantChanges(grantee, more), owner.actor);
  await saveUser(management.pool, { id: owner.userId, email: `${owner.userId}@example.org`, version: 1 });
  const selves: Record<string, string>[] = [{ user_id: owner.userId }, { email: `${owner.userId}@example.org` }];
  for (const self of selves) await expect(propose(self)).rejects.toMatchObject({ code: 'validation_failed' });
  const someone = { user_id: newId('usr') };
  await expect(propose(someone, { expires_at: world.inTime(-hour) })).rejects.toMatchObject({
    code: 'validation_failed',
  });
  await expect(propose(someone, { scope_filter: { podcast_ids: [elsewhere.id] } })).rejects.toMatchObject({
    code: 'link_not_found',
  });
  await expect(propose(someone, { role: 'owner' })).rejects.toMatchObject({ code: 'validation_failed' });
});

test('the clock ends grants and keys at their time, and a grant that ends takes its keys along', async () => {
  const world = createWorld(management);
  const { grant } = await world.granted();
  const [key, waiting] = [await world.activeKey(grant.id), await world.pendingKey(grant.id)];
  await world.send('authority_grant.revoke', grant, { cause });
  for (const { id } of [key, waiting])
    await followed.until(
      id,
      ({ lifecycle_state: state, attributes }) => state === 'revoked' && 'state_reason' in attributes,
    );

  const short = await world.granted({ expires_at: world.inTime(3 * hour) });
  const until = { not_after: world.inTime(2 * hour) };
  const expiring = await world.send(
    'machine_key.register',
    null,
    await world.registration(short.grant.id, until),
    operator,
  );
  const retiring = await world.send(
    'machine_key.register',
    null,
    await world.registration(short.grant.id, until),
    operator,
  );
  const active = await world.send('machine_key.activate', retiring, {});
  const successor = await world.send('machine_key.activate', expiring, {});
  await world.send('machine_key.retire', active, { successor_id: successor.id, overlap_until: world.inTime(hour) });
  await using _clock = followed.runClock();
  management.aheadMs += 1.5 * hour;
  await followed.until(active.id, ({ lifecycle_state: state }) => state === 'expired');
  expect(await followed.read(successor.id)).toMatchObject({ lifecycle_state: 'active' });
  management.aheadMs += hour;
  await followed.until(successor.id, ({ lifecycle_state: state }) => state === 'expired');
  management.aheadMs += hour;
  await followed.until(short.grant.id, ({ lifecycle_state: state }) => state === 'expired');
});

test('a key is registered only with a fresh proof by itself for this registration, under an active grant and not beyond it, and once for ever', async () => {
  const world = createWorld(management);
  const { grant } = await world.granted();
  const register = (changes: object) => world.send('machine_key.register', null, changes, operator);
  const refused = (code: string) => ({ code });
  const good = await world.registration(grant.id);
  const other = await keyPair();
  const iat = Math.floor(management.clock().getTime() / 1000);
  const statement = {
    ...{ workspace_id: world.workspaceId, authority_id: grant.id, jkt: await thumbprintOf(other.jwk) },
    ...{ nonce: 'n'.repeat(16), iat },
  };
  const withProof = async (said: object, header?: Record<string, unknown>) => ({
    ...{ ...good, jwk: other.jwk },
    proof: await other.sign(said, header),
  });
  for (const changes of [
    { ...good, jwk: other.jwk },
    { ...good, proof: 'none' },
    await withProof({ ...statement, workspace_id: newId('ws') }),
    await withProof({ ...statement, authority_id: newId('agr') }),
    await withProof({ ...statement, jkt: await thumbprintOf(good.jwk) }),
    await withProof({ ...statement, iat: iat - 301 }),
    await withProof({ ...statement, iat: iat + 310 }),
    await withProof({ ...statement, nonce: 'short' }),
    await withProof({ ...statement, more: 1 }),
    await withProof(statement, { typ: 'JWT' }),
    { ...good, jwk: { ...good.jwk, d: other.privateJwk.d } },
    { ...good, jwk: { ...good.jwk, crv: 'X25519' } },
    { ...good, purposes: ['content', 'content'] },
    { ...good, not_after: world.inTime(-hour) },
    { ...good, not_after: world.inTime(2000 * hour) },
  ])
    await expect(register(changes)).rejects.toMatchObject(refused('validation_failed'));
  const proposed = await world.proposed();
  for (const id of [proposed.id, newId('agr')])
    await expect(register(await world.registration(id))).rejects.toMatchObject(refused('link_not_found'));
  const key = await register(good);
  expect(key).toMatchObject({
    lifecycle_state: 'pending',
    attributes: { thumbprint: await thumbprintOf(good.jwk) },
    links: { authority: grant.id },
  });
  await world.send('machine_key.revoke', key, { cause });
  const elsewhere = createWorld(management);
  const there = (await elsewhere.granted()).grant.id;
  await expect(register(good)).rejects.toMatchObject(refused('value_taken'));
  const moved = { ...(await elsewhere.registration(there)), jwk: good.jwk };
  await expect(elsewhere.send('machine_key.register', null, moved, operator)).rejects.toMatchObject(
    refused('validation_failed'),
  );
});

test('a key retires only in favour of another active key of its authority, and is suspect only since a time that has passed', async () => {
  const world = createWorld(management);
  const { grant } = await world.granted();
  const key = await world.activeKey(grant.id);
  const overlap = { overlap_until: world.inTime(hour) };
  for (const successor of [await world.pendingKey(grant.id), { id: newId('key') }])
    await expect(
      world.send('machine_key.retire', key, { successor_id: successor.id, ...overlap }),
    ).rejects.toMatchObject({ code: 'link_not_found' });
  for (const changes of [
    { successor_id: key.id, ...overlap },
    { successor_id: (await world.activeKey()).id, ...overlap },
    { successor_id: (await world.activeKey(grant.id)).id, overlap_until: world.inTime(-hour) },
    { successor_id: (await world.activeKey(grant.id)).id, overlap_until: world.inTime(600 * hour) },
  ])
    await expect(world.send('machine_key.retire', key, changes)).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(
    world.send('machine_key.revoke', key, { cause, suspect_since: world.inTime(hour) }),
  ).rejects.toMatchObject({ code: 'validation_failed' });
});

test('changes of authority have receipts of the kind authority, and other commands of the kind command', async () => {
  const world = createWorld(management);
  await world.activeKey();
  await world.workspace();
  await world.podcast();
  const { rows } = await management.pool.query<{ kind: string; jws: string }>(
    'select kind, jws from receipt where workspace_id = $1 order by seq',
    [world.workspaceId],
  );
  const kinds = rows.map(({ kind, jws }) => {
    const statement = decodeJwt<{ command_type: string; kind: string }>(jws);
    expect(statement.kind).toBe(kind);
    return `${statement.command_type} ${kind}`;
  });
  expect(kinds).toEqual([
    'authority_grant.propose authority',
    'authority_grant.activate authority',
    'machine_key.register authority',
    'machine_key.activate authority',
    'workspace.provision authority',
    'podcast.create command',
  ]);
});

test('a new grant waits for its review as version 0, is made when it is approved, and its grantee does not review it', async () => {
  const world = createWorld(management);
  const [owner, reviewer, second] = [await world.known(), await world.member(), await world.member()];
  const token = http.tokenFor(owner.actor);
  const answer = await http.call(`/workspaces/${world.workspaceId}/commands/authority_grant.propose`, {
    ...{ method: 'POST', token, headers: { 'idempotency-key': newId('req') } },
    body: {
      subject: { type: 'authority_grants', id: null, version: 0 },
      changes: world.grantChanges({ user_id: reviewer.userId }),
    },
  });
  const operation = answer.json as OperationView;
  expect(answer.status).toBe(202);
  expect(operation).toMatchObject({
    ...{ state: 'waiting_review', review: { declared: 'single', applied: 'single' } },
    subject: { type: 'authority_grants', version: 0 },
  });
  expect((await visitor(world, owner.actor).operation(operation.id)).json).toEqual(operation);
  expect((await visitor(world, reviewer.actor).read(operation.subject.id)).status).toBe(404);
  const task = await world.taskOf(operation.subject.id);
  await expect(world.send('review.approve', task, {}, reviewer.actor)).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await world.send('review.approve', task, {}, second.actor);
  await followed.until(operation.subject.id, (row) => row?.lifecycle_state === 'proposed');
  expect((await visitor(world, owner.actor).operation(operation.id)).json).toMatchObject({
    ...{ state: 'succeeded', subject: { version: 1 }, review: { declared: 'single', applied: 'single' } },
  });
});
