import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { identityCatalog } from '@longwave/command-catalog';
import { idempotencyKeyPattern } from '@longwave/idempotency';
import { newId } from '@longwave/ids';
import { Api, Carrier } from '@longwave/rpc/credential';
import { pageRoutes, type PageRoutesDeps } from '../src/http/page-routes.ts';
import { startPages, tokenOf, type PagesUnderTest } from './_pages.ts';

let pages: PagesUnderTest;
beforeAll(async () => {
  pages = await startPages();
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());

type Browser = ReturnType<PagesUnderTest['browser']>;
const minutes = 60_000;
const wait = (ms: number) => {
  pages.server.clock.now = new Date(pages.server.clock.now.getTime() + ms);
};

const secretIn = (body: string) => /<code class="secret">([^<]+)<\/code>/.exec(body)?.[1];
/** The hidden id of a form whose line or card names `about`. */
const idIn = (body: string, action: string) =>
  new RegExp(`action="${action}"[^]*?name="id" value="([^"]+)"`).exec(body)?.[1] ?? '';
const onceIn = (body: string) => /name="once" value="([^"]+)"/.exec(body)?.[1] ?? '';

/** Sends a form of the API tab that makes something. */
async function make(browser: Browser, what: string, fields: Record<string, string> = {}) {
  const { body } = await browser.get('/settings/api');
  return browser.post(`/settings/api/${what}`, { once: onceIn(body), ...fields }, {}, '/settings/api');
}
const verify = (text: string, api: Api = Api.REST) => pages.server.verify(text, api, Carrier.HEADER);

describe('the API key', () => {
  test('is shown once, works, and is masked afterwards', async () => {
    const { browser, accountId } = await pages.signedIn('Ada');
    const answer = await make(browser, 'key');
    const key = secretIn(answer.body)!;
    expect(key).toMatch(/^lw_key_[\w-]{43}$/);
    expect(await verify(key)).toMatchObject({ value: { accountId, credentialKind: 'api_key' } });
    const later = await browser.get('/settings/api');
    expect([later.body.includes('lw_key_••••••••'), later.body.includes(key)]).toEqual([true, false]);
  });

  test('is replaced with an overlap, in which both work, or at once', async () => {
    const { browser } = await pages.signedIn('Ben');
    const first = secretIn((await make(browser, 'key')).body)!;
    const second = secretIn((await make(browser, 'key', { overlap: 'day' })).body)!;
    expect([(await verify(first))?.$case, (await verify(second))?.$case]).toEqual(['principal', 'principal']);
    const third = secretIn((await make(browser, 'key', { overlap: 'none' })).body)!;
    expect([(await verify(second))?.$case, (await verify(third))?.$case]).toEqual(['refusal', 'principal']);
    wait(24 * 60 * minutes);
    expect((await verify(first))?.$case).toBe('refusal');
  });

  test('is not made twice by a form that is sent twice', async () => {
    const { browser } = await pages.signedIn('Cid');
    const { body } = await browser.get('/settings/api');
    const send = () => browser.post('/settings/api/key', { once: onceIn(body) }, {}, '/settings/api');
    expect((await send()).status).toBe(200);
    const again = await send();
    expect(again.status).toBe(409);
    expect(again.body).toContain('This was already done');
    expect(again.body).toContain('<a href="/settings/api">Back to the page</a>');
    const { status, headers } = await browser.get('/settings/api/key');
    expect([status, headers.get('location')]).toEqual([303, '/settings/api']);
  });

  test('is made by every form that was shown: a key of a form is always one that commands take', async () => {
    const { browser } = await pages.signedIn('Eve');
    const visits = await Promise.all(Array.from({ length: 64 }, () => browser.get('/settings/api')));
    const keys = visits.flatMap(({ body }) => [...body.matchAll(/name="once" value="([^"]*)"/g)].map(([, key]) => key));
    expect(new Set(keys).size).toBe(3 * visits.length);
    expect(keys.filter((key) => !idempotencyKeyPattern.test(key!))).toEqual([]);
  });

  test('is made and members are changed only within 15 minutes after the password; then the password is asked for', async () => {
    const { browser, email, password } = await pages.signedUp('Dora');
    wait(15 * minutes);
    const refused = await make(browser, 'key');
    expect([refused.status, refused.headers.get('location')]).toEqual([
      303,
      '/sign-in/password?return_to=%2Fsettings%2Fapi',
    ]);
    const invited = await browser.post('/settings/members/invite', { email: 'a@example.com' }, {}, '/settings');
    expect(invited.headers.get('location')).toBe('/sign-in/password?return_to=%2Fsettings%2Fmembers');
    const wrong = await browser.post('/sign-in/password', { password: 'not it' }, {}, '/sign-in/password');
    expect(wrong.status).toBe(422);
    const before = browser.cookies.get('lw_session');
    await browser.post('/sign-in/password', { email, password, return_to: '/settings/api' }, {}, '/sign-in/password');
    expect(browser.cookies.get('lw_session')).not.toBe(before);
    expect((await make(browser, 'key')).status).toBe(200);
  });
});

test('a key or token that a member makes may do what the member may do, and ends with the membership', async () => {
  const [owner, member] = [await pages.signedIn('Zoe'), await pages.signedIn('Abe')];
  const { resource } = await pages.server.send(owner.workspaceId, 'membership.add', {
    ...{ owner_account_id: owner.accountId, member_account_id: member.accountId, permissions: ['manage_members'] },
  });
  const owners = secretIn((await make(owner.browser, 'key')).body)!;
  await member.browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
  const key = secretIn((await make(member.browser, 'key', { overlap: 'day' })).body)!;
  const token = secretIn((await make(member.browser, 'token', { name: 'Tool', scope: 'read_write' })).body)!;
  const principalWith = async (text: string) => {
    const outcome = await verify(text);
    return outcome?.$case === 'principal' ? outcome.value : undefined;
  };
  const { accountId } = owner;
  for (const made of [key, token])
    expect(await principalWith(made)).toMatchObject({ accountId, userId: member.userId, roles: ['viewer', 'manager'] });
  const { roles, clientId } = (await principalWith(owners))!;
  expect(roles).toContain('owner');
  expect((await principalWith(key))!.clientId).not.toBe(clientId);
  expect((await owner.browser.get('/settings/api')).body.match(/made by Abe/g)).toHaveLength(2);

  await pages.server.send(owner.workspaceId, 'membership.end', {}, { subjectId: resource.id });
  expect([await principalWith(key), await principalWith(token)]).toEqual([undefined, undefined]);
  expect((await owner.browser.get('/settings/api')).body).not.toContain('made by Abe');
});

test('with an older password no form that gives or takes access changes anything', async () => {
  const { browser } = await pages.signedUp('Dan');
  wait(15 * minutes);
  const forms = pageRoutes({} as PageRoutesDeps).filter(({ form, access }) => form && access === 'password');
  const paths = forms.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      ...['/settings/api/key', '/settings/api/token', '/settings/api/agent', '/settings/email'],
      ...['/settings/members/invite', '/settings/members/revise', '/settings/members/end'],
      '/settings/security/password',
    ]),
  );
  const operations = async () => (await pages.pool.query('select from operation')).rowCount;
  const before = await operations();
  for (const path of paths) {
    const answer = await browser.post(path, {}, {}, '/settings');
    expect([path, answer.status]).toEqual([path, 303]);
    expect(answer.headers.get('location')).toMatch(/^\/sign-in\/password\?return_to=%2Fsettings/);
  }
  expect(await operations()).toBe(before);
});

test.each(Object.keys(identityCatalog.commands))(
  'a gateway cannot send %s for a session, whose pages ask for the password first',
  async (commandType) => {
    const { text, workspaceId, accountId } = await pages.signedIn('Dot');
    const outcome = await pages.server.verify(text, Api.REST, Carrier.COOKIE);
    const { statement } = outcome!.value as { statement: string };
    const request = {
      ...{ workspaceId, commandType, idempotencyKey: newId('req'), ifMatch: '', subjectVersion: undefined },
      ...{ subjectType: `${commandType.split('.')[0]}s`, subjectId: accountId, changesJson: '{}', reasonJson: '' },
    };
    await expect(
      pages.server.clients.gateway.commands.execute(request, { principalStatement: statement }),
    ).rejects.toMatchObject({
      code: 'permission_denied',
      message: 'In a browser, members and keys are changed on the pages of the settings.',
    });
  },
);

test('a legacy token has the scope that was chosen, and is revoked at once', async () => {
  const { browser } = await pages.signedIn('Eve');
  const made = await make(browser, 'token', { name: 'Report & co', scope: 'read' });
  const token = secretIn(made.body)!;
  expect(token).toMatch(/^svc_pat_[\w-]{43}$/);
  expect(made.body).toContain('Report &amp; co');
  expect(await verify(token)).toMatchObject({ value: { readOnly: true, credentialKind: 'legacy_token' } });
  const id = idIn(made.body, '/settings/api/revoke');
  expect((await browser.post('/settings/api/revoke', { id }, {}, '/settings/api')).body).toContain('works no more');
  expect((await verify(token))?.$case).toBe('refusal');
});

test('a legacy token is offered on plans that accept it; on another plan the page names them', async () => {
  const [{ browser: scale }, { browser: launch }] = [await pages.signedIn('Eli'), await pages.signedUp('Eva')];
  expect((await scale.get('/settings/api')).body).toContain('Create a token');
  const { body } = await launch.get('/settings/api');
  expect(body).not.toContain('Create a token');
  expect(body).toContain('These plans do: Scale, Network.');
  expect(body).toContain(`${pages.baseUrl}/api/v1`);
});

test('a token for agents acts for the person at MCP and nowhere else; a member makes one without a role', async () => {
  const [owner, member] = [await pages.person('Quay', 'network'), await pages.signedIn('Fay')];
  await pages.server.send(owner.workspaceId, 'membership.add', {
    ...{ owner_account_id: owner.accountId, member_account_id: member.accountId, permissions: ['edit'] },
  });
  await member.browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
  const token = secretIn((await make(member.browser, 'agent', { agent: 'My agent' })).body)!;
  expect(await verify(token, Api.MCP)).toMatchObject({
    value: { accountId: owner.accountId, userId: member.userId, roles: ['viewer', 'editor'] },
  });
  expect((await verify(token))?.$case).toBe('refusal');
  const page = await member.browser.get('/settings/api');
  expect(page.body).not.toContain('Create an API key');
  expect((await make(member.browser, 'key')).status).toBe(403);
});

describe('a member', () => {
  test('is invited by mail, accepts with the address of the mail, and has the permissions until they end', async () => {
    const [owner, guest] = [await pages.signedIn('Gus'), await pages.signedUp('Hal')];
    const { browser } = owner;
    const invite = { email: guest.email, permissions: ['edit', 'publish'] };
    const invited = await browser.post('/settings/members/invite', invite, {}, '/settings/members');
    expect(invited.body).toContain(`An invitation goes to ${guest.email}.`);
    const mail = await pages.mailTo(guest.email, 2);
    expect([mail.subject, mail.link]).toEqual(['An invitation to Longwave', '/settings/members']);
    const offer = await guest.browser.get('/settings/members');
    expect(offer.body).toContain('Gus invites you');
    const id = idIn(offer.body, '/settings/members/accept');
    const stranger = await pages.signedIn('Ida');
    expect((await stranger.browser.post('/settings/members/accept', { id }, {}, '/settings/members')).status).toBe(404);
    const accepted = await guest.browser.post('/settings/members/accept', { id }, {}, '/settings/members');
    expect(accepted.body).toContain('Work in Gus');
    await guest.browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
    const rolesOf = async () => {
      const text = guest.browser.cookies.get('lw_session') ?? '';
      const outcome = await pages.server.verify(text, Api.REST, Carrier.COOKIE);
      return outcome?.$case === 'principal' ? outcome.value.roles : [];
    };
    expect(await rolesOf()).toEqual(['viewer', 'editor', 'scheduler']);
    await browser.post('/settings/members/revise', { id, permissions: 'view_analytics' }, {}, '/settings/members');
    expect(await rolesOf()).toEqual(['viewer', 'analyst']);
    await browser.post('/settings/members/end', { id }, {}, '/settings/members');
    expect(await rolesOf()).toEqual([]);
  });

  test('leaves an account, with the keys and browsers in it, and nobody else leaves by that form', async () => {
    const [owner, member, stranger] = [
      await pages.signedIn('Hugo'),
      await pages.signedIn('Ines'),
      await pages.signedIn('Jo'),
    ];
    await pages.server.send(owner.workspaceId, 'membership.add', {
      ...{ owner_account_id: owner.accountId, member_account_id: member.accountId, permissions: ['edit'] },
    });
    const leave = ({ browser }: typeof owner) =>
      browser.post('/settings/members/leave', { id: owner.accountId }, {}, '/settings/members');
    expect([(await leave(owner)).status, (await leave(stranger)).status]).toEqual([404, 404]);
    const { browser } = await pages.sessionOf(member);
    await browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
    expect((await leave(member)).body).toContain('You have left Hugo.');
    expect((await browser.get('/settings')).headers.get('location')).toBe('/sign-in?return_to=%2Fsettings');
    expect((await member.browser.get('/sign-in/account')).body).not.toContain('Hugo');
  });

  test('declines an invitation, and a second one is refused while the first waits', async () => {
    const [owner, guest] = [await pages.signedIn('Jan'), await pages.signedUp('Kim')];
    const invite = () =>
      owner.browser.post('/settings/members/invite', { email: guest.email }, {}, '/settings/members');
    await invite();
    const again = await invite();
    expect([again.status, again.body.includes('This address is already invited.')]).toEqual([422, true]);
    const { body } = await guest.browser.get('/settings/members');
    const id = idIn(body, '/settings/members/decline');
    await guest.browser.post('/settings/members/decline', { id }, {}, '/settings/members');
    expect((await guest.browser.get('/settings/members')).body).not.toContain('invites you');
  });

  test('who does not manage members sees and changes none, and an unverified address is offered nothing', async () => {
    const [owner, member] = [await pages.person('Lou', 'network'), await pages.signedIn('Mia')];
    await pages.server.send(owner.workspaceId, 'membership.add', {
      ...{ owner_account_id: owner.accountId, member_account_id: member.accountId, permissions: ['edit'] },
    });
    await member.browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
    expect((await member.browser.get('/settings/members')).body).not.toContain('Send the invitation');
    const invite = { email: 'new@example.com', permissions: 'manage_members' };
    expect((await member.browser.post('/settings/members/invite', invite, {}, '/settings/members')).status).toBe(422);
    await pages.pool.query(`update resource set attributes = attributes || '{"email_verified": false}' where id = $1`, [
      member.userId,
    ]);
    const other = await pages.signedIn('Ned');
    await other.browser.post('/settings/members/invite', { email: member.email }, {}, '/settings/members');
    expect((await member.browser.get('/settings/members')).body).not.toContain('invites you');
  });
});

describe('the profile', () => {
  test('has name, format of dates and time zone', async () => {
    const { browser } = await pages.signedIn('Ola');
    const person = { name: 'Ola <b>', locale: 'de', time_zone: 'Europe/Berlin' };
    expect((await browser.post('/settings/person', person)).status).toBe(200);
    const { body } = await browser.get('/settings');
    expect([body.includes('Ola &lt;b&gt;'), body.includes('Ola <b>')]).toEqual([true, false]);
    expect(body).toMatch(/<option value="Europe\/Berlin" selected/);
    expect(body).toContain('<option value="Europe/Kiev" >Europe/Kyiv</option>');
    expect((await browser.post('/settings/person', { ...person, time_zone: 'Mars/Base' })).status).toBe(422);
    expect((await browser.post('/settings/person', { ...person, email: 'a@example.com' })).status).toBe(422);
  });

  test('says plan and trial in words, and offers another account only to who has one', async () => {
    const { browser } = await pages.signedUp('Olga');
    const { body } = await browser.get('/settings');
    expect(body).toMatch(/<dd>Launch<\/dd>[^]*<dd>\s*Trial until <time [^>]*>\d+ Dec 2026<\/time>\s*<\/dd>/);
    expect(body).not.toContain('Work in another account');
  });

  test('moves to another address when its mail is answered, with the address of the account; the old one hears of it', async () => {
    const { browser, email, password } = await pages.signedUp('Pia');
    const next = `new-${email}`;
    expect((await browser.post('/settings/email', { email: next })).body).toContain(`A mail goes to ${next}.`);
    const { link } = await pages.mailTo(next);
    const stranger = await pages.signedIn('Quin');
    expect((await stranger.browser.get(link)).status).toBe(410);
    expect((await browser.get('/settings')).body).toContain(email);
    await browser.post('/settings/email/confirm', { token: tokenOf(link) }, {}, link);
    expect((await browser.get('/settings')).body).toContain(next);
    expect((await pages.mailTo(email, 2)).subject).toBe('Your Longwave address was changed');
    const signIn = (address: string) =>
      pages.browser('198.51.100.20').post('/sign-in', { email: address, password }, {}, '/sign-in');
    expect([(await signIn(email)).status, (await signIn(next)).status]).toEqual([422, 303]);
    const { rows } = await pages.pool.query(
      `select from resource where resource_type = 'accounts' and attributes->>'email' = $1`,
      [next],
    );
    expect(rows).toHaveLength(1);
  });

  test('does not say whether another address is known', async () => {
    const [other, { browser }] = [await pages.signedUp('Rob'), await pages.signedIn('Sue')];
    const answer = await browser.post('/settings/email', { email: other.email });
    expect(answer.body).toContain(`A mail goes to ${other.email}.`);
    await browser.post('/settings/email', { email: `x-${other.email}` });
    await pages.mailTo(`x-${other.email}`);
    expect(pages.readMails().filter(({ to }) => to === other.email)).toHaveLength(1);
  });
});

describe('security', () => {
  test('lists browsers with what happened, and signs one out', async () => {
    const { browser, email, password } = await pages.signedUp('Tom');
    const other = pages.browser('198.51.100.21');
    await other.post(
      '/sign-in',
      { email, password },
      { 'user-agent': 'X (Windows NT 10.0) Firefox/146.0' },
      '/sign-in',
    );
    const page = await browser.get('/settings/security');
    expect([page.body.includes('Firefox on Windows'), page.body.includes('This browser')]).toEqual([true, true]);
    const id = idIn(page.body, '/settings/security/end');
    const answer = await browser.post('/settings/security/end', { id }, {}, '/settings/security');
    expect(answer.body).toContain('Firefox on Windows is signed out.');
    expect([(await other.get('/settings')).status, (await browser.get('/settings')).status]).toEqual([303, 200]);
    const { body } = await pages.signedIn('Uma').then(({ browser: stranger }) => stranger.get('/settings/security'));
    expect(body).not.toContain('Firefox on Windows');
  });

  test('a new password signs out every other browser and keeps this one', async () => {
    const { browser, email, password } = await pages.signedUp('Vic');
    const other = pages.browser('198.51.100.22');
    await other.post('/sign-in', { email, password }, {}, '/sign-in');
    const short = await browser.post('/settings/security/password', { password: 'short' }, {}, '/settings/security');
    expect(short.status).toBe(422);
    await browser.post('/settings/security/password', { password: 'quite another one' }, {}, '/settings/security');
    expect([(await other.get('/settings')).status, (await browser.get('/settings')).status]).toEqual([303, 200]);
    expect((await browser.get('/settings/security')).body).toContain('The password was changed');
  });
});
