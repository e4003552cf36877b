import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { tryVerifyPrincipal } from '@longwave/principal';
import { Api, Carrier } from '@longwave/rpc/credential';
import { digestOf, secretText, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
beforeAll(async () => {
  server = await startAuthServer();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/** A user with an account of its own on a plan. */
async function person(name: string, plan = 'scale') {
  const workspaceId = newId('ws');
  const email = `${workspaceId}@example.com`;
  const user = await server.send(workspaceId, 'user.create', { name, email, email_verified: true });
  const account = await server.send(workspaceId, 'account.create', {
    ...{ name, email, plan, owner_user_id: user.resource.id },
  });
  return { workspaceId, email, userId: user.resource.id, accountId: account.resource.id };
}
type Person = Awaited<ReturnType<typeof person>>;

/** A credential of an account, for a person where one is named. */
async function issueRecorded(account: Person, kind: string, user?: Person) {
  const text = secretText('lw_key_');
  const { resource } = await server.send(account.workspaceId, 'credential.issue', {
    ...{ account_id: account.accountId, name: kind, kind, secret_digest: digestOf(text) },
    ...(user && { user_id: user.userId }),
  });
  return { text, id: resource.id };
}
const issue = async (account: Person, kind: string, user?: Person) => (await issueRecorded(account, kind, user)).text;

const session = (account: Person, user: Person) => issue(account, 'browser_session', user);

async function principalOf(text: string, carrier: Carrier = Carrier.COOKIE) {
  const outcome = await server.verify(text, Api.REST, carrier);
  return outcome?.$case === 'principal' ? outcome.value : undefined;
}

async function addMember(owner: Person, member: Person, permissions: readonly string[]) {
  const changes = { owner_account_id: owner.accountId, member_account_id: member.accountId, permissions };
  return (await server.send(owner.workspaceId, 'membership.add', changes)).resource.id;
}

describe('a session', () => {
  test('of the owner has the roles of the owner, in what the gateway reads and in the statement', async () => {
    const ada = await person('Ada');
    const principal = await principalOf(await session(ada, ada));
    expect(principal).toMatchObject({
      ...{
        accountId: ada.accountId,
        userId: ada.userId,
        workspaceId: ada.workspaceId,
        credentialKind: 'browser_session',
      },
      roles: ['owner', 'publisher', 'trafficker', 'sales', 'admin'],
    });
    const stated = await tryVerifyPrincipal(principal!.statement, [server.principalKey], server.clock.now);
    expect(stated).toMatchObject({ user_id: ada.userId, account_id: ada.accountId });
  });

  test("of a member carries the member's permissions, never the roles or the grants of the owner", async () => {
    const [ada, ben, other] = [await person('Ada', 'network'), await person('Ben', 'launch'), await person('Other')];
    await addMember(ada, ben, ['edit', 'view_analytics']);
    await addMember(other, ada, ['publish']);
    const [own, asMember] = [await principalOf(await session(ada, ada)), await principalOf(await session(ada, ben))];
    expect(own!.grants.map(({ workspaceId }) => workspaceId)).toEqual([other.workspaceId]);
    expect(asMember).toMatchObject({
      ...{ accountId: ada.accountId, userId: ben.userId, workspaceId: ada.workspaceId, grants: [] },
      roles: ['viewer', 'editor', 'analyst'],
      plan: { name: 'network' },
    });
    expect(asMember!.clientId).not.toBe(own!.clientId);
  });

  test.each(['the membership ends', 'the account is closed', "the member's own account is closed", 'it expires'])(
    'is unknown at the next request when %s',
    async (event) => {
      const [ada, ben] = [await person('Ada'), await person('Ben')];
      const membership = await addMember(ada, ben, ['edit']);
      const { text, id } = await issueRecorded(ada, 'browser_session', ben);
      expect(await principalOf(text)).toBeDefined();
      const past = new Date(server.clock.now.getTime() - 1).toISOString();
      await {
        'the membership ends': () => server.send(ada.workspaceId, 'membership.end', {}, { subjectId: membership }),
        'the account is closed': () => server.send(ada.workspaceId, 'account.close', {}, { subjectId: ada.accountId }),
        "the member's own account is closed": () =>
          server.send(ben.workspaceId, 'account.close', {}, { subjectId: ben.accountId }),
        'it expires': () => server.send(ada.workspaceId, 'credential.expire', { expires_at: past }, { subjectId: id }),
      }[event]!();
      expect(await server.verify(text, Api.REST, Carrier.COOKIE)).toEqual({
        $case: 'refusal',
        value: 'REFUSAL_UNKNOWN_USER',
      });
    },
  );

  test('of a person who is no member is unknown', async () => {
    expect(await principalOf(await session(await person('Ada'), await person('Ben')))).toBeUndefined();
  });

  test('is nothing in a header, and a key nothing in a cookie', async () => {
    const ada = await person('Ada');
    expect(await principalOf(await session(ada, ada), Carrier.HEADER)).toBeUndefined();
    expect(await principalOf(await issue(ada, 'api_key'), Carrier.COOKIE)).toBeUndefined();
  });
});

test('all credentials of an account stand for its owner, so a key and a session are one person', async () => {
  const ada = await person('Ada');
  const key = await principalOf(await issue(ada, 'api_key'), Carrier.HEADER);
  expect(key!.userId).toBe(ada.userId);
  expect((await principalOf(await session(ada, ada)))!.userId).toBe(ada.userId);
});

test('only the owner and members who manage members see the keys of the account', async () => {
  const [ada, ben, cid] = [await person('Ada'), await person('Ben'), await person('Cid')];
  await addMember(ada, ben, ['edit', 'publish', 'review']);
  await addMember(ada, cid, ['manage_members']);
  const keysFor = async (user: Person) => {
    const { statement: principalStatement } = (await principalOf(await session(ada, user)))!;
    return server.clients.gateway.accounts.listKeys({ after: '', limit: 10 }, { principalStatement });
  };
  await issue(ada, 'api_key');
  expect((await keysFor(ada)).keys).toHaveLength(1);
  expect((await keysFor(cid)).keys).toHaveLength(1);
  await expect(keysFor(ben)).rejects.toMatchObject({ code: 'permission_denied' });
});

test('two users have no address in common, whatever its case', async () => {
  const ada = await person('Ada');
  await expect(
    server.send(newId('ws'), 'user.create', { name: 'B', email: ada.email.toUpperCase(), email_verified: false }),
  ).rejects.toMatchObject({ code: 'value_taken' });
});

test('the time at which a credential ends never moves later', async () => {
  const ada = await person('Ada');
  const { text, id } = await issueRecorded(ada, 'api_key');
  const expire = (hours: number) => {
    const expires_at = new Date(server.clock.now.getTime() + hours * 3_600_000).toISOString();
    return server.send(ada.workspaceId, 'credential.expire', { expires_at }, { subjectId: id });
  };
  await expire(24);
  await expect(expire(48)).rejects.toMatchObject({ code: 'validation_failed' });
  await expire(1);
  expect(await principalOf(text, Carrier.HEADER)).toBeDefined();
});
