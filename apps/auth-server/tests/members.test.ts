import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { digestOf, secretText, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
beforeAll(async () => {
  server = await startAuthServer();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/** A user with an account of its own. */
async function person(name: string) {
  const workspaceId = newId('ws');
  const email = `${workspaceId}@example.com`;
  const user = await server.send(workspaceId, 'user.create', { name, email, email_verified: true });
  const changes = { name, email, plan: 'scale', owner_user_id: user.resource.id };
  const account = await server.send(workspaceId, 'account.create', changes);
  return { workspaceId, email, userId: user.resource.id, accountId: account.resource.id };
}
type Person = Awaited<ReturnType<typeof person>>;

/** Records a key or token of a user in an account; answers its text. */
async function issue(account: Person, user: Person, kind: 'api_key' | 'mcp_personal_token'): Promise<string> {
  const text = secretText('lw_key_');
  await server.send(account.workspaceId, 'credential.issue', {
    ...{ account_id: account.accountId, user_id: user.userId, name: 'Own', kind, secret_digest: digestOf(text) },
  });
  return text;
}

/** The signed statement of a user in an account, as a gateway gets it. */
async function statementOf(account: Person, user: Person): Promise<string> {
  const outcome = await server.verify(await issue(account, user, 'api_key'));
  if (outcome?.$case !== 'principal') throw new Error('refused');
  return outcome.value.statement;
}

/** A command that a gateway sends for a person. */
async function send(statement: string | undefined, account: Person, type: string, changes: object, subjectId = '') {
  const { resourceJson } = await server.clients.gateway.commands.execute(
    {
      ...{ workspaceId: account.workspaceId, commandType: type, idempotencyKey: newId('req'), ifMatch: '' },
      ...{ subjectType: `${type.split('.')[0]}s`, subjectId, subjectVersion: undefined },
      ...{ changesJson: JSON.stringify(changes), reasonJson: '' },
    },
    { ...(statement !== undefined && { principalStatement: statement }) },
  );
  return JSON.parse(resourceJson) as { readonly id: string; readonly lifecycle_state: string };
}

const addMember = (owner: Person, member: Person, permissions: readonly string[]) =>
  server
    .send(owner.workspaceId, 'membership.add', {
      ...{ owner_account_id: owner.accountId, member_account_id: member.accountId, permissions },
    })
    .then(({ resource }) => resource.id);

const denied = { code: 'permission_denied' };
const everything = { after: '', limit: 100 };

describe('members of an organization', () => {
  test('are invited by the owner, listed while the invitation waits, and taken back', async () => {
    const ada = await person('Ada');
    const statement = await statementOf(ada, ada);
    const invitation = { owner_account_id: ada.accountId, email: 'Ben@Example.com', permissions: ['edit'] };
    const { id } = await send(statement, ada, 'membership.invite', invitation);
    await expect(send(statement, ada, 'membership.invite', invitation)).rejects.toMatchObject({ code: 'value_taken' });
    const list = async () =>
      (await server.clients.gateway.accounts.listMembers(everything, { principalStatement: statement })).members;
    expect(await list()).toMatchObject([{ id, state: 'invited', email: 'ben@example.com', accountId: '', name: '' }]);
    await send(statement, ada, 'membership.end', {}, id);
    expect(await list()).toEqual([]);
  });

  test('who manage members give and take only what they have themselves', async () => {
    const [ada, ben, cid] = [await person('Ada'), await person('Ben'), await person('Cid')];
    await addMember(ada, ben, ['edit', 'manage_members']);
    const cids = await addMember(ada, cid, ['publish']);
    const statement = await statementOf(ada, ben);
    const invite = (permissions: readonly string[]) =>
      send(statement, ada, 'membership.invite', {
        ...{ owner_account_id: ada.accountId, email: 'new@example.com', permissions },
      });
    await expect(invite(['publish'])).rejects.toMatchObject(denied);
    await expect(send(statement, ada, 'membership.revise', { permissions: [] }, cids)).rejects.toMatchObject(denied);
    await expect(send(statement, ada, 'membership.end', {}, cids)).rejects.toMatchObject(denied);
    expect((await invite(['edit'])).lifecycle_state).toBe('invited');
  });

  test('without that permission change nothing and see no list', async () => {
    const [ada, ben] = [await person('Ada'), await person('Ben')];
    const bens = await addMember(ada, ben, ['edit', 'publish', 'encode', 'view_analytics', 'review']);
    const principalStatement = await statementOf(ada, ben);
    for (const [type, changes] of [
      ['membership.invite', { owner_account_id: ada.accountId, email: 'new@example.com', permissions: [] }],
      ['membership.revise', { permissions: ['manage_members'] }],
      ['account.close', {}],
    ] as const) {
      const subject = { 'membership.revise': bens, 'account.close': ada.accountId }[type as string] ?? '';
      await expect(send(principalStatement, ada, type, changes, subject)).rejects.toMatchObject(denied);
    }
    const lists = server.clients.gateway.accounts;
    await expect(lists.listMembers(everything, { principalStatement })).rejects.toMatchObject(denied);
    await expect(lists.listKeys(everything, { principalStatement })).rejects.toMatchObject(denied);
  });

  test('of another account are nowhere', async () => {
    const [ada, ben, eve] = [await person('Ada'), await person('Ben'), await person('Eve')];
    const membership = await addMember(ada, ben, ['edit']);
    const statement = await statementOf(eve, eve);
    await expect(send(statement, eve, 'membership.end', {}, membership)).rejects.toMatchObject({ code: 'not_found' });
    await expect(send(statement, ada, 'membership.end', {}, membership)).rejects.toMatchObject({ code: 'not_found' });
    const invitation = { owner_account_id: ada.accountId, email: 'eve@example.com', permissions: ['edit'] };
    await expect(send(statement, eve, 'membership.invite', invitation)).rejects.toMatchObject({
      code: 'link_not_found',
    });
  });
});

describe('a person', () => {
  test('makes keys and tokens for itself, and no credential that signing in gives', async () => {
    const [ada, ben] = [await person('Ada'), await person('Ben')];
    const statement = await statementOf(ada, ada);
    const issue = (kind: string, more = {}) =>
      send(statement, ada, 'credential.issue', {
        ...{ account_id: ada.accountId, name: kind, kind, secret_digest: digestOf(secretText('lw_key_')), ...more },
      });
    await expect(issue('browser_session')).rejects.toMatchObject(denied);
    await expect(issue('mcp_personal_token', { user_id: ben.userId })).rejects.toMatchObject(denied);
    expect((await issue('mcp_personal_token', { user_id: ada.userId })).lifecycle_state).toBe('active');
    const { id } = await issue('api_key');
    expect((await send(statement, ada, 'credential.revoke', {}, id)).lifecycle_state).toBe('revoked');
  });

  test('sees and revokes its own tokens for agents beside the keys, and sees nobody else’s', async () => {
    const [ada, ben] = [await person('Ada'), await person('Ben')];
    await addMember(ada, ben, ['manage_members']);
    const [adas, bens] = [await statementOf(ada, ada), await statementOf(ada, ben)];
    for (const one of [ada, ben]) await issue(ada, one, 'mcp_personal_token');
    const list = async (principalStatement: string) =>
      (await server.clients.gateway.accounts.listKeys(everything, { principalStatement })).keys;
    const kindsOf = async (statement: string) => (await list(statement)).map(({ kind }) => kind);
    const agentOf = async (statement: string) =>
      (await list(statement)).find(({ kind }) => kind === 'mcp_personal_token')!.id;
    for (const statement of [adas, bens])
      expect(await kindsOf(statement)).toEqual(['api_key', 'api_key', 'mcp_personal_token']);
    expect(await agentOf(adas)).not.toBe(await agentOf(bens));
    await send(bens, ada, 'credential.revoke', {}, await agentOf(bens));
    expect(await kindsOf(bens)).toEqual(['api_key', 'api_key']);
  });

  test('cannot take the address of somebody else for the account', async () => {
    const ada = await person('Ada');
    const statement = await statementOf(ada, ada);
    await expect(
      send(statement, ada, 'account.revise', { email: 'somebody@example.com' }, ada.accountId),
    ).rejects.toMatchObject(denied);
    await send(statement, ada, 'account.revise', { name: 'Ada & Co' }, ada.accountId);
    const account = await server.clients.gateway.accounts.getAccount({}, { principalStatement: statement });
    expect(account).toMatchObject({ name: 'Ada & Co', email: ada.email, plan: 'scale', subscriptionState: 'active' });
  });

  test('is needed for every command of a gateway', async () => {
    const ada = await person('Ada');
    await expect(send(undefined, ada, 'account.close', {}, ada.accountId)).rejects.toMatchObject({
      code: 'token_missing',
    });
  });
});
