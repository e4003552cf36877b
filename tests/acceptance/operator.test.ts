import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createBrowser, npxLongwave } from '@longwave/test-kit';
import { commandsIn, signUp } from '@longwave/test-kit/clients';
import { Secret, TOTP } from 'otpauth';
import { startTestFleet, type TestFleet } from '../_fleet.ts';

const script = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
let world: TestFleet;
beforeAll(async () => {
  world = await startTestFleet({ services: ['auth-server', 'management', 'rest-gateway'] });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** An operator's command on the fleet of this file. */
function longwave(...command: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [script, ...command, '--data', world.fleet.dataFolder],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

function answerOf<T>(...command: string[]): T {
  const { status, stdout, stderr } = longwave(...command);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

test('npx longwave in a folder of the checkout prints the answer alone on standard output, where a program reads it', () => {
  const typed = ['account', 'create', '--name', 'Anna’s podcasts', '--data', world.fleet.dataFolder];
  const { status, stdout } = npxLongwave('docs', ...typed);
  const { account_id } = JSON.parse(stdout) as Account;
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^\{\n[^]*\n\}\n$/)]);
  expect(answerOf('account', 'show', '--account', account_id)).toMatchObject({ account_id, name: 'Anna’s podcasts' });
});

type Account = Readonly<Record<'account_id' | 'workspace_id' | 'name' | 'email' | 'plan' | 'api_key', string>>;

test('an account has the name, the e-mail address and the plan that it was created with, in every later answer', async () => {
  const account = answerOf<Account>(
    ...['account', 'create', '--name', 'Anna’s podcasts', '--email', 'Anna@Example.org', '--plan', 'grow'],
  );
  const given = { name: 'Anna’s podcasts', email: 'anna@example.org', plan: 'grow' };
  expect(account).toMatchObject(given);
  const { account_id } = account;
  expect(answerOf('account', 'show', '--account', account_id)).toMatchObject({ account_id, ...given });
  expect(answerOf('account', 'list')).toContainEqual(expect.objectContaining({ account_id, ...given }));
  const response = await fetch(`${world.fleet.urls.base}/api/v1/account`, { headers: { token: account.api_key } });
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ id: account_id, plan: 'grow' }),
  ]);
});

test('an account without a workspace has an owner with an address and a plan, no key and no workspace, until a program provisions it', async () => {
  const options = ['--email', 'Dana@Example.org', '--plan', 'grow'];
  const made = answerOf<Account>('account', 'create-without-workspace', ...options);
  const { account_id, workspace_id } = made;
  expect(made).toEqual({
    ...{ account_id: expect.stringMatching(/^acc_/), workspace_id: expect.stringMatching(/^ws_/) },
    ...{ name: 'Dana@Example.org', email: 'dana@example.org', plan: 'grow' },
  });
  expect(answerOf('account', 'show', '--account', account_id)).toMatchObject({ account_id, plan: 'grow' });
  expect(await world.operator.productList(workspace_id, 'workspaces', ['active'])).toEqual([]);
  const again = longwave('account', 'create-without-workspace', ...options);
  expect([again.status, again.stdout]).toEqual([1, '']);
  expect(again.stderr).toContain('Another account has the e-mail address');
  const missing = longwave('account', 'create-without-workspace');
  expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining('--email')]);
});

test('an account without a name is called by its e-mail address, else “New account”', () => {
  expect(answerOf('account', 'create', '--email', 'ben@example.org')).toMatchObject({
    name: 'ben@example.org',
    email: 'ben@example.org',
  });
  const unnamed = answerOf<Account>('account', 'create');
  expect(unnamed).toMatchObject({ name: 'New account', plan: 'network' });
  expect(unnamed).not.toHaveProperty('email');
});

test('a refused account says why and what to do, and leaves nothing behind', () => {
  answerOf('account', 'create', '--email', 'taken@example.org');
  const before = answerOf<Account[]>('account', 'list').length;
  const refused = (...options: string[]) => {
    const { status, stdout, stderr } = longwave('account', 'create', ...options);
    expect([status, stdout]).toEqual([1, '']);
    return stderr.trimEnd();
  };
  expect(refused('--email', 'TAKEN@example.org')).toBe(
    'Another account has the e-mail address “taken@example.org”. Choose another address, or use that account: it is in the list of accounts.',
  );
  expect(refused('--email', 'nonsense')).toBe('--email must be an e-mail address.');
  expect(refused('--name', 'x'.repeat(256))).toBe('--name must have at most 255 characters.');
  expect(refused('--plan', 'platinum')).toBe(
    'There is no plan “platinum”. The plans are launch, grow, scale, network, classic.',
  );
  expect(refused('--plan', 'classic')).toBe(
    'The plan “classic” is closed to new accounts. Choose one of launch, grow, scale, network.',
  );
  expect(answerOf<Account[]>('account', 'list')).toHaveLength(before);
});

test('a person who has lost app and recovery codes signs in with the password alone after user remove-second-factor', async () => {
  const { email, password, accountId, browser } = await signUp(world, 'Cora');
  const page = '/settings/security/second-factor';
  const { body } = await browser.get(page);
  const secret = Secret.fromBase32(/<code class="secret">([^<]+)</.exec(body)![1]!.replaceAll(' ', ''));
  const sealed = /name="sealed" value="([^"]+)"/.exec(body)![1]!;
  const on = await browser.post(`${page}/on`, { code: TOTP.generate({ secret }), sealed });
  expect([on.status, on.body.includes('Your recovery codes')]).toEqual([200, true]);
  const signIn = async () => {
    const answer = await createBrowser(world.fleet.urls.base).post('/sign-in', { email, password }, {}, '/sign-in');
    return answer.headers.get('location');
  };
  expect(await signIn()).toBe('/sign-in/code?return_to=%2F');
  const { owner_user_id: user } = answerOf<{ owner_user_id: string }>('account', 'show', '--account', accountId);
  expect(answerOf('user', 'remove-second-factor', '--user', user)).toMatchObject({ id: user, email });
  expect(await signIn()).toBe('/');
  const again = longwave('user', 'remove-second-factor', '--user', user);
  expect([again.status, again.stderr.trimEnd()]).toEqual([1, 'This user signs in with the password alone.']);
});

test('a machine names its API, unknown scopes are answered with the allowed ones, and a wrong client is put right', async () => {
  const typed = ['client', 'register', '--kind', 'machine', '--id', 'acme', '--name', 'Acme'];
  const refused = longwave(...typed);
  expect([refused.status, refused.stderr.split('\n')[0]]).toEqual([
    2,
    '--api is missing: a machine uses exchange or audience.',
  ]);
  const { stderr } = longwave(...typed, '--api', 'exchange', '--scopes', 'audience:read');
  expect(stderr).toContain('“audience:read” is no scope of exchange. Choose from exchange:write, exchange:read');
  const { workspace_id } = answerOf<Account>('account', 'create');
  const newAuthority = async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const changes = { grantee: { client_id: 'acme' }, role: 'machine', expires_at: expiresAt };
    const send = commandsIn(world.operator, workspace_id);
    return ['--authority', (await send('authority_grant.propose', 'authority_grants', changes)).id];
  };
  const authority = await newAuthority();
  expect(longwave(...typed, '--api', 'exchange', ...authority).stderr).toMatch(
    /^--authority needs the one workspace of the grant: --workspace ws_…\./,
  );
  const exchange = ['--api', 'exchange', '--workspace', workspace_id, ...authority];
  const { id, ...platform } = answerOf<{ id: string }>(...typed, ...exchange);
  expect(platform).toMatchObject({ authority: { workspace_id, authority_id: authority[1] } });
  expect(platform).not.toHaveProperty('workspaces');
  const other = ['--workspace', workspace_id, ...(await newAuthority())];
  expect(answerOf('client', 'revise', '--client', id, ...other)).toMatchObject({
    authority: { workspace_id, authority_id: other.at(-1) },
  });
  const audience = ['--api', 'audience', '--producer', 'acme', '--workspace', workspace_id];
  expect(answerOf('client', 'revise', '--client', id, ...audience)).toMatchObject({
    ...{ resources: ['audience'], scopes: ['audience:write', 'audience:read'], producer: 'acme' },
  });
  expect(answerOf('client', 'revise', '--client', id, '--scopes', 'audience:read')).toMatchObject({
    ...{ resources: ['audience'], scopes: ['audience:read'] },
  });
});

test('account show lists no ended sign-ins, and closing the user and the account ends what is left of them', async () => {
  const { accountId, browser, email, password } = await signUp(world, 'Dora');
  const kinds = () => {
    const { credentials } = answerOf<{ credentials: { kind: string; state: string }[] }>(
      ...['account', 'show', '--account', accountId],
    );
    return credentials.map(({ kind, state }) => `${kind} ${state}`);
  };
  expect(kinds()).toContain('browser_session active');
  await browser.post('/sign-out', {}, {}, '/settings');
  expect(kinds().filter((each) => each.startsWith('browser_session'))).toEqual([]);
  await browser.post('/sign-in', { email, password }, {}, '/sign-in');
  expect((await browser.get('/settings')).status).toBe(200);
  const { owner_user_id: user } = answerOf<{ owner_user_id: string }>('account', 'show', '--account', accountId);
  expect(answerOf('user', 'close', '--user', user)).toMatchObject({ id: user, state: 'closed' });
  expect((await browser.get('/settings')).status).toBe(303);
  expect(answerOf('account', 'close', '--account', accountId)).toMatchObject({ id: accountId, state: 'closed' });
});
