import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Api, Carrier } from '@longwave/rpc/credential';
import { until } from '@longwave/test-kit';
import { passwordOf, startPages, tokenOf, type PagesUnderTest } from './_pages.ts';

let pages: PagesUnderTest;
beforeAll(async () => {
  pages = await startPages();
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());

const unknownEmail = () => `${newId('usr')}@example.org`;
const signIn = (browser: ReturnType<PagesUnderTest['browser']>, email: string, password: string) =>
  browser.post('/sign-in', { email, password, return_to: '/settings' }, {}, '/sign-in');
/** A page without what differs from one answer to the next by itself. */
const comparable = ({ status, body }: { status: number; body: string }, email: string) => ({
  status,
  body: body.replaceAll(email, 'EMAIL').replace(/name="form_token" value="[^"]+"/g, ''),
});

describe('signing up', () => {
  test('ends in the settings of a new account on the first open plan, as a trial of 14 days', async () => {
    const { browser, email } = await pages.signedUp('Ada Quay');
    const settings = await browser.get('/settings');
    expect([settings.status, settings.body.includes(email), settings.body.includes('Ada Quay')]).toEqual([
      200,
      true,
      true,
    ]);
    const outcome = await pages.server.verify(browser.cookies.get('lw_session')!, Api.REST, Carrier.COOKIE);
    expect(outcome).toMatchObject({
      $case: 'principal',
      value: { plan: { name: 'launch' }, roles: expect.arrayContaining(['owner']) },
    });
    const { rows } = await pages.pool.query(
      `select attributes from resource where resource_type = 'accounts' and attributes->>'email' = $1`,
      [email],
    );
    expect(rows[0].attributes.subscription).toEqual({
      state: 'trialing',
      trial_ends_at: new Date(pages.server.clock.now.getTime() + 14 * 86_400_000).toISOString(),
    });
  });

  test('makes nothing before the link of the mail is followed, and shows and mails the same to an address that is known', async () => {
    const known = await pages.signedUp('Ben');
    const [browser, email] = [pages.browser(), unknownEmail()];
    const answers = [];
    for (const address of [email, known.email])
      answers.push(comparable(await browser.post('/sign-up', { name: 'X', email: address }, {}, '/sign-up'), address));
    expect(answers[0]).toEqual(answers[1]);
    expect((await pages.mailTo(email)).subject).toBe('Finish signing up to Longwave');
    expect((await pages.mailTo(known.email, 2)).subject).toBe('You already use Longwave');
    const { rows } = await pages.pool.query(`select from resource where attributes->>'email' = $1`, [email]);
    expect(rows).toEqual([]);
  });

  test('needs a password of ten characters; the link stays good until one is chosen, and works once', async () => {
    const [browser, email] = [pages.browser(), unknownEmail()];
    await browser.post('/sign-up', { name: 'Cid', email }, {}, '/sign-up');
    const { link } = await pages.mailTo(email);
    const finish = (password: string) =>
      browser.post('/sign-up/finish', { token: tokenOf(link), email, password }, {}, link);
    const short = await finish('123456789');
    expect([short.status, short.body.includes('Use at least 10 characters.')]).toEqual([422, true]);
    expect((await finish('aaaaaaaaaaaaa')).status).toBe(422);
    expect((await finish('long enough 1')).status).toBe(303);
    expect((await pages.browser().get(link)).status).toBe(410);
  });

  test.each([
    ['/settings/members', '/settings/members'],
    ['//evil.example', '/'],
  ])('with return_to %s ends at %s, by the form and the mail', async (returnTo, end) => {
    const [browser, email] = [pages.browser(), unknownEmail()];
    const signInPage = await browser.get(`/sign-in?return_to=${encodeURIComponent(returnTo)}`);
    const signUp = `/sign-up?return_to=${encodeURIComponent(end)}`;
    expect(signInPage.body).toContain(`href="${signUp}"`);
    await browser.post('/sign-up', { name: 'Dirk', email, return_to: returnTo }, {}, signUp);
    const { link } = await pages.mailTo(email);
    expect(link).toContain(`&return_to=${encodeURIComponent(end)}`);
    const form = { token: tokenOf(link), email, password: 'long enough 1' };
    const answer = await browser.post('/sign-up/finish', { ...form, return_to: returnTo }, {}, link);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, end]);
  });

  test('by a link that is an hour old is not possible', async () => {
    const [browser, email] = [pages.browser(), unknownEmail()];
    await browser.post('/sign-up', { name: 'Dora', email }, {}, '/sign-up');
    const { link } = await pages.mailTo(email);
    const { clock } = pages.server;
    clock.now = new Date(clock.now.getTime() + 3_600_000);
    expect((await browser.get(link)).status).toBe(410);
  });

  test('a token of one purpose is none of another', async () => {
    const { email } = await pages.signedUp('Eve');
    await pages.browser().post('/sign-in/reset', { email }, {}, '/sign-in/reset');
    const { link } = await pages.mailTo(email, 2);
    expect((await pages.browser().get(`/sign-up/finish?token=${tokenOf(link)}`)).status).toBe(410);
  });
});

describe('signing in', () => {
  test('goes on where the person wanted to go, with a new value for the cookie each time', async () => {
    const { email, password } = await pages.signedUp('Fay');
    const browser = pages.browser();
    const detour = await browser.get('/settings?a=1');
    expect(detour.headers.get('location')).toBe('/sign-in?return_to=%2Fsettings%3Fa%3D1');
    const form = await browser.get(detour.headers.get('location')!);
    expect(form.body).toContain('name="return_to" value="/settings?a=1"');
    const answer = await browser.post(
      '/sign-in',
      { email: ` ${email.toUpperCase()} `, password, return_to: '/settings?a=1' },
      {},
      '/sign-in',
    );
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings?a=1']);
    expect(answer.headers.getSetCookie().find((cookie) => cookie.startsWith('lw_session='))).toMatch(
      /^lw_session=lw_ses_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const first = browser.cookies.get('lw_session')!;
    await browser.post('/sign-in', { email, password }, {}, '/sign-in');
    expect(browser.cookies.get('lw_session')).not.toBe(first);
    expect((await pages.server.verify(first, Api.REST, Carrier.COOKIE))?.$case).toBe('refusal');
  });

  test('with a wrong password and with an unknown address is refused in the same words', async () => {
    const { email } = await pages.signedUp('Gus');
    const other = unknownEmail();
    const answers = [];
    for (const address of [email, other]) {
      const answer = await signIn(pages.browser('198.51.100.1'), address, 'wrong password');
      answers.push(comparable(answer, address));
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({
      status: 422,
      body: expect.stringContaining('The address or the password is wrong.'),
    });
  });

  test('never leads to another site', async () => {
    const { email, password } = await pages.signedUp('Hal');
    const answer = await pages
      .browser()
      .post('/sign-in', { email, password, return_to: '//evil.example' }, {}, '/sign-in');
    expect(answer.headers.get('location')).toBe('/');
  });

  test('from one address is refused after ten wrong passwords for a person, and the right one does not help then', async () => {
    const { email, password } = await pages.signedUp('Ida');
    const browser = pages.browser('198.51.100.2');
    for (let attempt = 0; attempt < 10; attempt++) expect((await signIn(browser, email, 'wrong')).status).toBe(422);
    const refused = await signIn(browser, email, password);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await signIn(pages.browser('198.51.100.3'), email, password)).status).toBe(303);
  });

  test('a person who is a member elsewhere chooses the account, and each choice has a cookie value of its own', async () => {
    const [owner, member] = [await pages.person('Quay Media', 'network'), await pages.signedUp('Jan')];
    const { rows } = await pages.pool.query(
      `select id from resource where resource_type = 'accounts' and attributes->>'email' = $1`,
      [member.email],
    );
    await pages.server.send(owner.workspaceId, 'membership.add', {
      ...{ owner_account_id: owner.accountId, member_account_id: rows[0].id, permissions: ['edit'] },
    });
    const browser = pages.browser();
    const answer = await signIn(browser, member.email, member.password);
    expect(answer.headers.get('location')).toBe('/sign-in/account?return_to=%2Fsettings');
    const choice = await browser.get(answer.headers.get('location')!);
    expect([choice.body.includes('Quay Media'), choice.body.includes('You are a member')]).toEqual([true, true]);
    const before = browser.cookies.get('lw_session')!;
    await browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
    const after = browser.cookies.get('lw_session')!;
    expect((await pages.server.verify(before, Api.REST, Carrier.COOKIE))?.$case).toBe('refusal');
    expect(await pages.server.verify(after, Api.REST, Carrier.COOKIE)).toMatchObject({
      value: { accountId: owner.accountId, roles: ['viewer', 'editor'] },
    });
    const stranger = await pages.person('Stranger');
    expect(
      (await browser.post('/sign-in/account', { account: stranger.accountId }, {}, '/sign-in/account')).status,
    ).toBe(404);
  });
});

describe('a new password by mail', () => {
  test('signs in, and ends every other browser', async () => {
    const { email, browser } = await pages.signedUp('Kim');
    const other = pages.browser('198.51.100.4');
    await other.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
    const { link } = await pages.mailTo(email, 2);
    const answer = await other.post(
      '/sign-in/reset/finish',
      { token: tokenOf(link), email, password: 'another one 1' },
      {},
      link,
    );
    expect([answer.status, (await other.get('/settings')).status]).toEqual([303, 200]);
    expect((await browser.get('/settings')).status).toBe(303);
    expect((await pages.mailTo(email, 3)).subject).toBe('Your Longwave password was changed');
    expect((await signIn(pages.browser(), email, passwordOf('Kim'))).status).toBe(422);
    expect((await pages.browser().get(link)).status).toBe(410);
  });

  test('is answered alike for an address that nobody has, which gets no mail', async () => {
    const { email } = await pages.signedUp('Lou');
    const other = unknownEmail();
    const ask = async (address: string) =>
      comparable(await pages.browser().post('/sign-in/reset', { email: address }, {}, '/sign-in/reset'), address);
    expect(await ask(other)).toEqual(await ask(email));
    await pages.mailTo(email, 2);
    expect(pages.readMails().filter(({ to }) => to === other)).toEqual([]);
  });

  test('goes to an address at most five times an hour, and a sender asks for at most twenty', async () => {
    const { email } = await pages.signedUp('Mia');
    const browser = pages.browser('198.51.100.5');
    for (let mail = 0; mail < 20; mail++)
      expect((await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset')).status).toBe(200);
    const refused = await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    // Another one was that of signing up.
    expect(pages.readMails().filter(({ to }) => to === email)).toHaveLength(6);
  });
});

test('a person whose sign-up was cut off before the account was made has one after the first sign-in', async () => {
  const [workspaceId, email] = [newId('ws'), unknownEmail()];
  await pages.server.send(workspaceId, 'user.create', { name: 'Nia', email, email_verified: true });
  const browser = pages.browser('198.51.100.7');
  await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await pages.mailTo(email);
  await browser.post('/sign-in/reset/finish', { token: tokenOf(link), email, password: 'nia password' }, {}, link);
  expect((await browser.get('/settings')).body).toContain('Nia');
  expect((await signIn(pages.browser('198.51.100.8'), email, 'nia password')).status).toBe(303);
  const { rowCount } = await pages.pool.query(
    `select from resource where resource_type = 'accounts' and attributes->>'email' = $1`,
    [email],
  );
  expect(rowCount).toBe(1);
});

test('an account of the operator has an owner, who chooses a password by mail', async () => {
  const [workspaceId, email] = [newId('ws'), unknownEmail()];
  await pages.server.send(workspaceId, 'account.create', { name: 'Studio', email, plan: 'scale' });
  const browser = pages.browser('198.51.100.6');
  const ownerOf = async () =>
    (
      await pages.pool.query(
        `select u.attributes from resource a join resource u on u.id = a.attributes->>'owner_user_id' where a.workspace_id = $1`,
        [workspaceId],
      )
    ).rows[0]?.attributes;
  await until(async () => Boolean(await ownerOf()));
  expect(await ownerOf()).toEqual({ name: 'Studio', email, email_verified: false });
  await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await pages.mailTo(email);
  await browser.post('/sign-in/reset/finish', { token: tokenOf(link), email, password: 'studio password' }, {}, link);
  expect((await browser.get('/settings')).body).toContain('Studio');
  expect(await ownerOf()).toEqual({ name: 'Studio', email, email_verified: true });
});
