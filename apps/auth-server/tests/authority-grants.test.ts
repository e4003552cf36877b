import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { grantedRoles } from '@longwave/principal';
import { until } from '@longwave/test-kit';
import { publishAuthorityGrant } from './_podcasts.ts';
import { digestOf, secretText, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
let pool: Pool;
beforeAll(async () => {
  server = await startAuthServer();
  pool = createPool(server.database.url, 'identity', { name: 'test' });
}, 120_000);
afterAll(async () => {
  await pool.end();
  await server[Symbol.asyncDispose]();
});

/** A person with an account and its key. */
async function personWithKey() {
  const workspaceId = newId('ws');
  const email = `${workspaceId}@example.com`;
  const user = await server.send(workspaceId, 'user.create', { name: 'Ann', email, email_verified: true });
  const userId = user.resource.id;
  const account = { name: 'Studio', email, plan: 'scale', owner_user_id: userId };
  const { resource } = await server.send(workspaceId, 'account.create', account);
  const key = secretText('lw_key_');
  const changes = { account_id: resource.id, name: 'key', kind: 'api_key', secret_digest: digestOf(key) };
  await server.send(workspaceId, 'credential.issue', changes);
  const grants = async () => {
    const outcome = await server.verify(key);
    if (outcome?.$case !== 'principal') throw new Error(`refused: ${String(outcome?.value)}`);
    return outcome.value.grants.map(({ workspaceId: workspace, podcastId, roles }) => ({
      ...{ workspace, podcastId, roles },
    }));
  };
  return { workspaceId, userId, key, grants };
}

const soon = () => new Date(Date.now() + 3600_000).toISOString();

test('an active grant gives its grantee the role in the workspace within 5 s, and takes it when it ends', async () => {
  const [owner, grantee, other] = [await personWithKey(), await personWithKey(), await personWithKey()];
  const grant = { id: newId('agr'), workspaceId: owner.workspaceId };
  const attributes = (role: string, more: object = {}) => ({
    ...{ grantee: { user_id: grantee.userId }, role, expires_at: soon(), ...more },
  });
  const tell = (version: number, state: string, said: Record<string, unknown>) =>
    publishAuthorityGrant(server.redis.url, { ...grant, version, state, attributes: said });
  const within5s = async (grants: readonly object[]) => {
    const started = performance.now();
    await until(async () => JSON.stringify(await grantee.grants()) === JSON.stringify(grants));
    expect(performance.now() - started).toBeLessThan(5_000);
  };
  const active = attributes('trafficker', { grantee_user_id: grantee.userId });
  await tell(1, 'proposed', attributes('trafficker'));
  await tell(2, 'active', active);
  await within5s([{ workspace: owner.workspaceId, podcastId: '', roles: ['viewer', 'trafficker'] }]);
  expect(await other.grants()).toEqual([]);
  await tell(3, 'revoked', active);
  await within5s([]);
  // An older version that comes again changes nothing.
  await tell(2, 'active', active);
  const marker = { ...grant, id: newId('agr') };
  const podcasts = [newId('pod'), newId('pod')].toSorted();
  const scoped = attributes('publisher', { scope_filter: { podcast_ids: podcasts }, grantee_user_id: grantee.userId });
  await publishAuthorityGrant(server.redis.url, { ...marker, version: 2, state: 'active', attributes: scoped });
  await within5s(
    podcasts.map((podcastId) => ({ workspace: owner.workspaceId, podcastId, roles: ['viewer', 'publisher'] })),
  );
});

test('a grant of a hosting platform gives no person a right', async () => {
  const [owner, grantee] = [await personWithKey(), await personWithKey()];
  const tell = (id: string, attributes: Record<string, unknown>) =>
    publishAuthorityGrant(server.redis.url, {
      ...{ id, workspaceId: owner.workspaceId, version: 2, state: 'active' },
      attributes: { ...attributes, expires_at: soon() },
    });
  const [ofClient, ofPerson, marker] = [newId('agr'), newId('agr'), newId('agr')];
  const person = { grantee: { user_id: grantee.userId }, grantee_user_id: grantee.userId };
  await tell(ofClient, { grantee: { client_id: 'northern-light' }, role: 'machine' });
  await tell(ofPerson, { ...person, role: 'machine' });
  await tell(marker, { ...person, role: 'trafficker' });
  await until(async () => (await grantee.grants()).length > 0);
  expect(await grantee.grants()).toEqual([
    { workspace: owner.workspaceId, podcastId: '', roles: ['viewer', 'trafficker'] },
  ]);
  const { rows } = await pool.query('select id from authority_grant where id = any($1)', [[ofClient, ofPerson]]);
  expect(rows).toEqual([]);
});

test('a proposal gives nothing, and neither does a grant whose time is over before the clock has ended it', async () => {
  const [owner, grantee] = [await personWithKey(), await personWithKey()];
  const past = new Date(server.clock.now.getTime() - 1).toISOString();
  const said = { grantee: { user_id: grantee.userId }, grantee_user_id: grantee.userId, role: 'admin' };
  const tell = (version: number, state: string, expires_at: string, id = newId('agr')) =>
    publishAuthorityGrant(server.redis.url, {
      ...{ id, workspaceId: owner.workspaceId, version, state, attributes: { ...said, expires_at } },
    });
  await tell(1, 'proposed', soon());
  await tell(2, 'active', past);
  for (const [index, role] of grantedRoles.entries())
    await publishAuthorityGrant(server.redis.url, {
      ...{ id: newId('agr'), workspaceId: owner.workspaceId, version: 2, state: 'active' },
      attributes: { ...said, role, expires_at: new Date(Date.parse(soon()) + index).toISOString() },
    });
  await until(async () => (await grantee.grants()).length === grantedRoles.length);
  expect((await grantee.grants()).flatMap(({ roles }) => roles)).toEqual(expect.arrayContaining([...grantedRoles]));
});
