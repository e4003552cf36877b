import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Api, Carrier } from '@longwave/rpc/credential';
import pMap from 'p-map';
import { createApps, recoveryCodesIn } from './_codes.ts';
import { connector, startOauth, type OauthUnderTest } from './_oauth.ts';
import { tokenOf } from './_pages.ts';

let pages: OauthUnderTest;
let apps: ReturnType<typeof createApps>;
beforeAll(async () => {
  pages = await startOauth();
  apps = createApps(pages);
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());
beforeEach(() => {
  pages.server.clock.now = new Date();
});

type Browser = ReturnType<OauthUnderTest['browser']>;
let senders = 0;
const signIn = async (email: string, password: string) => {
  const browser = pages.browser(`203.0.113.${(senders += 1)}`);
  await browser.post('/sign-in', { email, password }, {}, '/sign-in');
  return browser;
};
const isSignedIn = async (browser: Browser) => (await browser.get('/settings')).status === 200;
const stateOf = async (text: string) => (await pages.server.verify(text, Api.REST, Carrier.COOKIE))?.$case;

/** A person who works in two accounts. */
async function withTwoAccounts(name: string) {
  const [person, organization] = [await pages.signedUp(name), await pages.person(`${name} & Co`, 'network')];
  const { rows } = await pages.pool.query<{ id: string }>(
    `select id from resource where resource_type = 'accounts' and attributes->>'email' = $1`,
    [person.email],
  );
  await pages.server.send(organization.workspaceId, 'membership.add', {
    ...{ owner_account_id: organization.accountId, member_account_id: rows[0]!.id, permissions: ['edit'] },
  });
  return { ...person, accounts: [rows[0]!.id, organization.accountId] as const };
}

/**
 * Browsers of a thief, each of which changes the account, and so the value of its session, all the time. Answers how they stop, which
 * answers every value that they had.
 */
async function startThieves({ email, password, accounts }: Awaited<ReturnType<typeof withTwoAccounts>>) {
  const browsers = [await signIn(email, password), await signIn(email, password), await signIn(email, password)];
  const values = new Set<string>();
  let stopped = false;
  const running = Promise.all(
    browsers.map(async (browser) => {
      for (let turn = 1; !stopped; turn += 1) {
        values.add(browser.cookies.get('lw_session') ?? '');
        await browser.post('/sign-in/account', { account: accounts[turn % 2]! }, {}, '/sign-in/account');
      }
      values.add(browser.cookies.get('lw_session') ?? '');
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  return async () => {
    stopped = true;
    await running;
    expect(values.size).toBeGreaterThan(3);
    return [...values];
  };
}

test('a new password in the settings ends every other session, also those that change the account meanwhile, and the person hears of it', async () => {
  const person = await withTwoAccounts('Ada');
  const stop = await startThieves(person);
  const fields = { password: 'quite another one' };
  const answer = await person.browser.post('/settings/security/password', fields, {}, '/settings/security');
  const values = await stop();
  expect(answer.status).toBe(303);
  expect(new Set(await Promise.all(values.map(stateOf)))).toEqual(new Set(['refusal']));
  expect(await isSignedIn(person.browser)).toBe(true);
  expect((await pages.mailTo(person.email, 2)).subject).toBe('Your Longwave password was changed');
});

test('a new password by mail ends every session, also those that change the account meanwhile, and the person hears of it', async () => {
  const person = await withTwoAccounts('Ben');
  const { email } = person;
  const browser = pages.browser('198.51.100.50');
  await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await pages.mailTo(email, 2);
  const stop = await startThieves(person);
  const fields = { token: tokenOf(link), email, password: 'quite another one' };
  const answer = await browser.post('/sign-in/reset/finish', fields, {}, link);
  const values = await stop();
  expect([answer.status, await isSignedIn(browser)]).toEqual([303, true]);
  expect(new Set(await Promise.all(values.map(stateOf)))).toEqual(new Set(['refusal']));
  expect(await isSignedIn(person.browser)).toBe(false);
  expect((await pages.mailTo(email, 3)).subject).toBe('Your Longwave password was changed');
});

test('switching codes on shows the recovery codes and ends every session without a code, also those that begin or change the account meanwhile', async () => {
  const person = await withTwoAccounts('Cid');
  const { email, password, browser } = person;
  const stop = await startThieves(person);
  const app = await apps.offer(browser);
  const meanwhile = pMap(Array.from({ length: 8 }), async () => signIn(email, password));
  const answer = await app.switchOn(app.code());
  const values = await stop();
  const begun = await meanwhile;
  expect([answer.status, recoveryCodesIn(answer.body).length]).toEqual([200, 10]);
  expect(new Set(await Promise.all(values.map(stateOf)))).toEqual(new Set(['refusal']));
  expect(await Promise.all(begun.map(isSignedIn))).toEqual(begun.map(() => false));
  expect(await isSignedIn(browser)).toBe(true);
  const { subject } = await pages.mailTo(email, 2);
  expect(subject).toBe('Signing in to Longwave takes a code from now on');
});

test('a session that was begun with an earlier password, or without the second factor, counts nowhere, whatever became of it', async () => {
  const { email, password, browser } = await pages.signedUp('Dan');
  const text = browser.cookies.get('lw_session')!;
  const states = async () => [await stateOf(text), (await browser.get('/settings')).status];
  expect(await states()).toEqual(['principal', 200]);
  await pages.pool.query(
    `update password set set_at = set_at + interval '1 millisecond' where user_id in
       (select id from resource where resource_type = 'users' and attributes->>'email' = $1)`,
    [email],
  );
  expect(await states()).toEqual(['refusal', 303]);

  const again = await signIn(email, password);
  const copy = again.cookies.get('lw_session')!;
  await apps.switchOn(again);
  expect([await stateOf(copy), await isSignedIn(again)]).toEqual(['refusal', true]);
  expect((await again.get('/settings/security')).body.match(/This browser/g)).toHaveLength(1);
});

test('a sign-in that waits for its code ends with the password that was given for it', async () => {
  const { email, password, browser } = await pages.signedUp('Eli');
  const app = await apps.switchOn(browser);
  const { browser: waiting } = await apps.waiting(email, password, '198.51.100.51');
  await pages.pool.query(
    `update password set set_at = set_at + interval '1 millisecond' where user_id in
       (select id from resource where resource_type = 'users' and attributes->>'email' = $1)`,
    [email],
  );
  const answer = await waiting.post('/sign-in/code', { code: app.code() }, {}, '/sign-in');
  expect(answer.headers.get('location')).toContain('/sign-in?');
  expect(await isSignedIn(waiting)).toBe(false);
});

/** A person with a program and a token for agents, and what both can still do. */
async function withPrograms(name: string) {
  const client = await pages.register(connector());
  const person = await pages.signedIn(name);
  const { redeem } = await pages.grant(person, client, { scope: 'mcp:read offline_access' });
  const { access_token: access, refresh_token: refresh } = (await redeem()).body;
  const { body: form } = await person.browser.get('/settings/api');
  const once = /name="once" value="([^"]+)"/.exec(form)?.[1] ?? '';
  const made = await person.browser.post('/settings/api/agent', { once, agent: 'Mine' }, {}, '/settings/api');
  const agent = /<code class="secret">([^<]+)<\/code>/.exec(made.body)![1]!;
  const isRefreshed = async () => (await pages.refresh(client, refresh!)).status === 200;
  return {
    ...person,
    lives: async () => [await pages.isLive(access!), await pages.isLive(agent), await isRefreshed()],
  };
}

test('a new password by mail ends the access of all programs and the tokens for agents, and says so before and after', async () => {
  const { email, lives } = await withPrograms('Fay');
  const browser = pages.browser('198.51.100.52');
  await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await pages.mailTo(email);
  expect((await browser.get(link)).body).toContain('The access of all programs and your agent tokens ends');
  await browser.post('/sign-in/reset/finish', { token: tokenOf(link), email, password: 'quite another one' }, {}, link);
  expect(await lives()).toEqual([false, false, false]);
  expect((await browser.get('/settings/connectors')).body).toContain('No program has access.');
  expect((await browser.get('/settings/security')).body).toContain('Access of all programs and agent tokens ended');
  const mail = await pages.mailTo(email, 2);
  expect(mail.text).toContain('The access of all programs and your agent tokens has ended.');
});

test('a new password by mail ends keys that the person made as a member, and tokens that are blocked', async () => {
  const { email, userId, accountId, workspaceId } = await pages.signedIn('Ida');
  const issue = async (kind: string) => {
    const secret_digest = pages.secret().digest;
    const changes = { account_id: accountId, user_id: userId, name: 'A', kind, scope: 'read', secret_digest };
    return (await pages.server.send(workspaceId, 'credential.issue', changes)).resource.id;
  };
  const [key, token] = [await issue('api_key'), await issue('mcp_personal_token')];
  await pages.server.send(workspaceId, 'credential.block', {}, { subjectId: token });
  const browser = pages.browser('198.51.100.53');
  await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await pages.mailTo(email);
  await browser.post('/sign-in/reset/finish', { token: tokenOf(link), email, password: 'quite another one' }, {}, link);
  const { rows } = await pages.pool.query('select lifecycle_state from resource where id = any($1)', [[key, token]]);
  expect(rows).toEqual([{ lifecycle_state: 'revoked' }, { lifecycle_state: 'revoked' }]);
});

test('a new password in the settings leaves the person in the account of the work', async () => {
  const person = await withTwoAccounts('Jon');
  await person.browser.post('/sign-in/account', { account: person.accounts[1] }, {}, '/sign-in/account');
  const fields = { password: 'quite another one' };
  await person.browser.post('/settings/security/password', fields, {}, '/settings/security');
  const { value } = (await pages.server.verify(person.browser.cookies.get('lw_session')!, Api.REST, Carrier.COOKIE))!;
  expect(value).toMatchObject({ accountId: person.accounts[1] });
});

test('a new password in the settings ends the access of programs and the tokens for agents as the person chose', async () => {
  const [gus, hal] = [await withPrograms('Gus'), await withPrograms('Hal')];
  expect((await gus.browser.get('/settings/security')).body).toMatch(/name="end_programs" value="yes" checked/);
  const change = ({ browser }: typeof gus, more: Record<string, string>) =>
    browser.post('/settings/security/password', { password: 'quite another one', ...more }, {}, '/settings/security');
  await change(gus, { end_programs: 'yes' });
  await change(hal, {});
  expect([await gus.lives(), await hal.lives()]).toEqual([
    [false, false, false],
    [true, true, true],
  ]);
  expect((await pages.mailTo(hal.email)).text).toContain('Programs and agent tokens keep their access.');
});
