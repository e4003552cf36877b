import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { digestOf, secretText, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
beforeAll(async () => {
  server = await startAuthServer();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const everything = { after: '', limit: 200 };

interface TestAccount {
  readonly workspaceId: string;
  readonly id: string;
  readonly email: string;
  readonly keyId: string;
  readonly statement: string;
}

/** An account with one API key, and the statement that the gateway holds for it. */
async function account(name: string): Promise<TestAccount> {
  const workspaceId = newId('ws');
  const email = `${workspaceId}@example.com`;
  const { resource } = await server.send(workspaceId, 'account.create', { name, email, plan: 'scale' });
  const text = secretText('lw_key_');
  const issued = await issue(workspaceId, resource.id, { name: 'First', kind: 'api_key' }, text);
  const outcome = await server.verify(text);
  if (outcome?.$case !== 'principal') throw new Error('refused');
  return { workspaceId, id: resource.id, email, keyId: issued, statement: outcome.value.statement };
}

const issue = async (workspaceId: string, accountId: string, changes: object, text = secretText('lw_key_')) =>
  (
    await server.send(workspaceId, 'credential.issue', {
      account_id: accountId,
      secret_digest: digestOf(text),
      ...changes,
    })
  ).resource.id;

const keysOf = async ({ statement: principalStatement }: TestAccount, part = everything) =>
  (await server.clients.gateway.accounts.listKeys(part, { principalStatement })).keys;
const membersOf = async ({ statement: principalStatement }: TestAccount, part = everything) =>
  (await server.clients.gateway.accounts.listMembers(part, { principalStatement })).members;

test('an account sees its own keys and tokens that were not revoked, without secret or digest, and none of other accounts', async () => {
  const [owner, other] = [await account('Owner'), await account('Other')];
  const at = (id: string) => keysOf(owner).then((keys) => keys.find((key) => key.id === id));
  const token = await issue(owner.workspaceId, owner.id, {
    ...{ name: 'Numbers', kind: 'legacy_token', scope: 'read', expires_at: '2027-01-01T00:00:00.000Z' },
  });
  const session = await issue(owner.workspaceId, owner.id, { name: 'Browser', kind: 'browser_session' });
  const revoked = await issue(owner.workspaceId, owner.id, { name: 'Old', kind: 'api_key' });
  await server.send(owner.workspaceId, 'credential.revoke', {}, { subjectId: revoked });
  await server.send(owner.workspaceId, 'credential.block', {}, { subjectId: token });
  const keys = await keysOf(owner);
  expect(keys.map(({ id }) => id)).toEqual([owner.keyId, token]);
  expect(await at(token)).toMatchObject({
    ...{ name: 'Numbers', kind: 'legacy_token', scope: 'read', state: 'blocked' },
    expiresAtMs: BigInt(Date.UTC(2027, 0, 1)),
  });
  const told = JSON.stringify(keys, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
  expect(told).not.toMatch(/[0-9a-f]{64}|digest|lw_key_/);
  expect(told).not.toContain(session);
  expect((await keysOf(other)).map(({ id }) => id)).toEqual([other.keyId]);
});

test('an owner sees the members of its organization with what they may do; a member sees its own, which has none', async () => {
  const [owner, one, two, other] = [
    await account('Owner'),
    await account('One'),
    await account('Two'),
    await account('Other'),
  ];
  const add = async (member: TestAccount, permissions: string[], by = owner) => {
    const changes = { owner_account_id: by.id, member_account_id: member.id, permissions };
    return (await server.send(by.workspaceId, 'membership.add', changes)).resource.id;
  };
  const first = await add(one, ['edit', 'manage_members']);
  const second = await add(two, []);
  await add(other, ['edit'], one);
  expect(await membersOf(owner)).toMatchObject([
    { id: first, accountId: one.id, name: 'One', email: one.email, permissions: ['edit', 'manage_members'] },
    { id: second, accountId: two.id, name: 'Two', permissions: [] },
  ]);
  expect((await membersOf(one)).map(({ accountId }) => accountId)).toEqual([other.id]);
  expect(await membersOf(two)).toEqual([]);
  await server.send(owner.workspaceId, 'membership.end', {}, { subjectId: first });
  expect((await membersOf(owner)).map(({ id }) => id)).toEqual([second]);
});

test('both lists come in pages, each after the last item of the one before', async () => {
  const owner = await account('Owner');
  const later = [];
  for (const name of ['a', 'b', 'c']) later.push(await issue(owner.workspaceId, owner.id, { name, kind: 'api_key' }));
  const start = await keysOf(owner, { after: '', limit: 2 });
  const rest = await keysOf(owner, { after: start.at(-1)!.id, limit: 2 });
  expect([...start, ...rest].map(({ id }) => id)).toEqual([owner.keyId, ...later]);
  for (const limit of [0, 201])
    await expect(keysOf(owner, { after: '', limit })).rejects.toMatchObject({ code: 'validation_failed' });
});

test('only the gateway may call, and only with a statement that this service signed and that has not expired', async () => {
  const { statement: principalStatement } = await account('Owner');
  const { gateway, operator, management } = server.clients;
  for (const { accounts } of [operator, management])
    await expect(accounts.listKeys(everything, { principalStatement })).rejects.toMatchObject({
      code: 'permission_denied',
    });
  await expect(gateway.accounts.listKeys(everything, {})).rejects.toMatchObject({ code: 'token_missing' });
  await expect(
    gateway.accounts.listMembers(everything, { principalStatement: `${principalStatement.slice(0, -4)}AAAA` }),
  ).rejects.toMatchObject({ code: 'token_invalid' });
  server.clock.now = new Date(server.clock.now.getTime() + 120_000);
  await expect(gateway.accounts.listMembers(everything, { principalStatement })).rejects.toMatchObject({
    code: 'token_invalid',
  });
});

test('management, and nobody else, is told the plan of a workspace: as it is now, and none of a workspace without an account', async () => {
  const { workspaceId, id } = await account('Planned');
  const planOf = async (of: string) =>
    (await server.clients.management.accounts.findPlan({ workspaceId: of }, {})).plan;
  expect(await planOf(workspaceId)).toMatchObject({ name: 'scale', includesAnalytics: true });
  await server.send(workspaceId, 'account.set_plan', { plan: 'launch' }, { subjectId: id });
  expect(await planOf(workspaceId)).toMatchObject({ name: 'launch' });
  await server.send(
    workspaceId,
    'account.set_subscription',
    { subscription: { state: 'suspended' } },
    { subjectId: id },
  );
  expect(await planOf(workspaceId)).toMatchObject({ name: 'launch' });
  await server.send(workspaceId, 'account.close', {}, { subjectId: id });
  for (const none of [workspaceId, newId('ws'), 'nonsense', '']) expect(await planOf(none)).toBeUndefined();
  for (const caller of ['gateway', 'operator', 'sink'] as const)
    await expect(server.clients[caller].accounts.findPlan({ workspaceId }, {})).rejects.toMatchObject({
      code: 'permission_denied',
    });
});

test('management, and nobody else, is told the names of an account and of a person, as they are now', async () => {
  const { workspaceId, id: accountId } = await account('Named');
  const { resource } = await server.send(workspaceId, 'user.create', {
    ...{ name: 'Ada', email: `ada-${workspaceId}@example.com`, email_verified: true },
  });
  const ask = (userId: string) => server.clients.management.accounts.findPerson({ accountId, workspaceId, userId }, {});
  expect(await ask(resource.id)).toEqual({
    accountName: 'Named',
    person: { name: 'Ada', email: `ada-${workspaceId}@example.com`, locale: undefined, timeZone: undefined },
  });
  for (const nobody of ['', newId('usr')])
    expect(await ask(nobody)).toEqual({ accountName: 'Named', person: undefined });
  for (const caller of ['gateway', 'operator', 'sink'] as const)
    await expect(
      server.clients[caller].accounts.findPerson({ accountId, workspaceId, userId: resource.id }, {}),
    ).rejects.toMatchObject({ code: 'permission_denied' });
});
