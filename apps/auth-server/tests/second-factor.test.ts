import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Api, Carrier } from '@longwave/rpc/credential';
import pMap from 'p-map';
import { createApps, recoveryCodesIn, secondFactorPath } from './_codes.ts';
import { callback, connector, pkce, startOauth, type OauthUnderTest } from './_oauth.ts';
import { tokenOf } from './_pages.ts';

let pages: OauthUnderTest;
let apps: ReturnType<typeof createApps>;
beforeAll(async () => {
  pages = await startOauth();
  apps = createApps(pages);
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());
// Deadlines are times of the machine's clock.
beforeEach(() => {
  pages.server.clock.now = new Date();
});

const wait = (seconds: number) => {
  pages.server.clock.now = new Date(pages.server.clock.now.getTime() + seconds * 1000);
};
const isSignedIn = async (browser: ReturnType<OauthUnderTest['browser']>) =>
  (await browser.get('/settings')).status === 200;
const securityPage = async (browser: ReturnType<OauthUnderTest['browser']>) =>
  (await browser.get('/settings/security')).body;

/** A person with codes, and a browser of theirs. */
async function withCodes(name: string) {
  const person = await pages.signedUp(name);
  return { ...person, app: await apps.switchOn(person.browser) };
}

describe('switching codes on', () => {
  test('takes the first code of the secret, shows ten recovery codes once, and signs out every other browser', async () => {
    const { browser, email, password } = await pages.signedUp('Ada');
    const other = pages.browser('198.51.100.1');
    await other.post('/sign-in', { email, password }, {}, '/sign-in');
    expect(await isSignedIn(other)).toBe(true);
    const app = await apps.offer(browser);
    const wrong = await app.switchOn('000000');
    expect([wrong.status, wrong.body.includes(app.sealed)]).toEqual([422, true]);
    expect(await securityPage(browser)).toContain('Switch on codes');
    const answer = await app.switchOn(app.code());
    const codes = recoveryCodesIn(answer.body);
    expect([answer.status, new Set(codes).size]).toEqual([200, 10]);
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([true, false]);
    const page = await securityPage(browser);
    expect(page).toContain('Recovery codes left: 10.');
    expect(page).toContain('Signing in takes a code besides the password');
    expect(codes.filter((code) => page.includes(code))).toEqual([]);
    expect((await pages.mailTo(email, 2)).subject).toBe('Signing in to Longwave takes a code from now on');
  });

  test('needs the password of the last 15 minutes, and the offer of this person and page', async () => {
    const [ben, eve] = [await pages.signedUp('Ben'), await pages.signedUp('Eve')];
    const foreign = await apps.offer(eve.browser);
    const taken = { code: foreign.code(), sealed: foreign.sealed };
    const answer = await ben.browser.post(`${secondFactorPath}/on`, taken, {}, secondFactorPath);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, secondFactorPath]);
    const offer = await apps.offer(ben.browser);
    wait(15 * 60);
    expect((await ben.browser.get(secondFactorPath)).headers.get('location')).toBe(
      `/sign-in/password?return_to=${encodeURIComponent(secondFactorPath)}`,
    );
    expect((await offer.switchOn(offer.code())).headers.get('location')).toContain('/sign-in/password');
    const { email, password } = ben;
    await ben.browser.post('/sign-in/password', { email, password }, {}, '/sign-in/password');
    expect((await offer.switchOn(offer.code())).headers.get('location')).toBe(secondFactorPath);
    expect(await securityPage(ben.browser)).toContain('Switch on codes');
  });

  test('by two forms at once leaves one secret and ten codes', async () => {
    const { browser, email } = await pages.signedUp('Cid');
    const offers = [await apps.offer(browser), await apps.offer(browser)];
    const answers = await Promise.all(offers.map((app) => app.switchOn(app.code())));
    // The other comes from a session that goes on or from one that has ended.
    const [one, other] = answers.map(({ status }) => status).toSorted();
    expect([one, other === 303 || other === 403]).toEqual([200, true]);
    expect(await securityPage(browser)).toContain('Recovery codes left: 10.');
    await pages.mailTo(email, 2);
  });
});

describe('signing in with codes', () => {
  test('gives no session after the password; the code gives it, in the browser of the password, within ten minutes', async () => {
    const { email, password, app } = await withCodes('Dora');
    const { browser, answer } = await apps.waiting(email, password, '198.51.100.2');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in/code?return_to=%2F']);
    const cookies = answer.headers.getSetCookie().filter((cookie) => !cookie.startsWith('lw_form='));
    expect(cookies).toEqual([
      expect.stringMatching(/^lw_wait=lw_wait_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/),
    ]);
    const text = browser.cookies.get('lw_wait')!;
    for (const carrier of [Carrier.COOKIE, Carrier.HEADER])
      expect((await pages.server.verify(text, Api.REST, carrier))?.$case).toBe('refusal');
    browser.cookies.set('lw_session', text);
    expect(await isSignedIn(browser)).toBe(false);
    browser.cookies.delete('lw_session');

    const stranger = pages.browser('198.51.100.3');
    await stranger.get('/sign-in');
    expect((await apps.giveCode(stranger, app.code())).status).toBe(403);
    const late = (await apps.waiting(email, password, '198.51.100.2')).browser;
    const right = await apps.giveCode(browser, app.code(), '/settings/api');
    expect([right.status, right.headers.get('location')]).toEqual([303, '/settings/api']);
    expect([await isSignedIn(browser), browser.cookies.has('lw_wait')]).toEqual([true, false]);
    browser.cookies.set('lw_wait', text);
    expect((await browser.get('/sign-in/code')).headers.get('location')).toContain('/sign-in?');

    expect((await late.get('/sign-in/code')).status).toBe(200);
    wait(600);
    const over = await late.get('/sign-in/code?return_to=/settings/api');
    expect(over.headers.get('location')).toBe('/sign-in?return_to=%2Fsettings%2Fapi');
  });

  test('counts the fifteen minutes of the password from the password, not from the code', async () => {
    const { email, password, app } = await withCodes('Eli');
    const { browser } = await apps.waiting(email, password, '198.51.100.4');
    wait(9 * 60);
    await apps.giveCode(browser, app.code());
    expect((await browser.get(secondFactorPath)).status).toBe(200);
    wait(6 * 60);
    expect((await browser.get(secondFactorPath)).headers.get('location')).toContain('/sign-in/password');
    await browser.post('/sign-in/password', { email, password }, {}, '/sign-in/password');
    expect((await browser.get(secondFactorPath)).status).toBe(200);
  });

  test('answers a wrong password alike, whether codes are on or not', async () => {
    const [on, off] = [await withCodes('Fay'), await pages.signedUp('Gus')];
    const answers = await pMap([on.email, off.email], async (email) => {
      const { answer } = await apps.waiting(email, 'wrong password', '198.51.100.5');
      const body = answer.body.replaceAll(email, 'EMAIL').replace(/name="form_token" value="[^"]+"/g, '');
      return { status: answer.status, body };
    });
    expect(answers[0]).toEqual(answers[1]);
  });

  test('takes a code once: of eight browsers that give the same one at once, one is signed in', async () => {
    const { email, password, app } = await withCodes('Hal');
    const found = await pMap(Array.from({ length: 8 }), async (_, index) =>
      apps.waiting(email, password, `198.51.101.${index}`),
    );
    const code = app.code();
    const answers = await Promise.all(found.map(({ browser }) => apps.giveCode(browser, code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array.from({ length: 7 }, () => 422)]);
    const signedIn = await Promise.all(found.map(({ browser }) => isSignedIn(browser)));
    expect(signedIn.filter(Boolean)).toHaveLength(1);
  });

  test('takes no code of the time before the last one that was accepted', async () => {
    const { email, password, app } = await withCodes('Ida');
    const { browser } = await apps.waiting(email, password, '198.51.100.6');
    expect((await apps.giveCode(browser, app.code(1))).status).toBe(303);
    const again = (await apps.waiting(email, password, '198.51.100.6')).browser;
    for (const steps of [-1, 0, 1]) expect((await apps.giveCode(again, app.code(steps))).status).toBe(422);
    wait(30);
    expect((await apps.giveCode(again, app.code(1))).status).toBe(303);
  });

  test('takes each recovery code once, also of two at once, and tells the person', async () => {
    const { email, password, app, browser: first } = await withCodes('Jan');
    const [code = '', other = ''] = app.recoveryCodes;
    const found = await pMap(Array.from({ length: 4 }), async (_, index) =>
      apps.waiting(email, password, `198.51.102.${index}`),
    );
    const answers = await Promise.all(
      found.map(({ browser }) => apps.giveCode(browser, code.toUpperCase().replaceAll('-', ' '))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422, 422, 422]);
    const page = await securityPage(first);
    expect([page.includes('Recovery codes left: 9.'), page.includes('A recovery code was used')]).toEqual([true, true]);
    expect((await pages.mailTo(email, 3)).subject).toBe('A recovery code for Longwave was used');
    const stranger = await withCodes('Kim');
    const waiting = (await apps.waiting(stranger.email, stranger.password, '198.51.102.9')).browser;
    expect((await apps.giveCode(waiting, other)).status).toBe(422);
  });

  test('a new password keeps codes: the link of a mail leads to the code, and ends what waited with the old password', async () => {
    const { email, password, app } = await withCodes('Lou');
    const old = (await apps.waiting(email, password, '198.51.100.7')).browser;
    const browser = pages.browser('198.51.100.8');
    await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
    const { link } = await pages.mailTo(email, 3);
    const fields = { token: tokenOf(link), email, password: 'another password' };
    const answer = await browser.post('/sign-in/reset/finish', fields, {}, link);
    expect(answer.headers.get('location')).toBe('/sign-in/code?return_to=%2F');
    expect([await isSignedIn(browser), browser.cookies.has('lw_session')]).toEqual([false, false]);
    expect((await old.get('/sign-in/code')).status).toBe(303);
    expect((await apps.giveCode(browser, app.code())).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('leads back to the request of a program, which gets nothing before the code', async () => {
    const client = await pages.register(connector());
    const { email, password, app } = await withCodes('Mia');
    const browser = pages.browser('198.51.100.9');
    const authorize = pages.authorizeUrl({
      ...{ response_type: 'code', client_id: client.client_id, redirect_uri: callback, state: 'state' },
      ...{ resource: 'http://mcp.test/mcp', code_challenge: pkce().challenge, code_challenge_method: 'S256' },
    });
    const interaction = (await browser.get(authorize)).headers.get('location')!;
    const signIn = (await browser.get(interaction)).headers.get('location')!;
    const fields = { email, password, return_to: interaction };
    const toCode = (await browser.post('/sign-in', fields, {}, signIn)).headers.get('location')!;
    expect(toCode).toBe(`/sign-in/code?return_to=${encodeURIComponent(interaction)}`);
    expect((await browser.get(interaction)).headers.get('location')).toContain('/sign-in?');
    expect((await browser.post(`${interaction}/consent`, {}, {}, toCode)).headers.get('location')).toContain(
      '/sign-in?',
    );
    const back = await browser.post('/sign-in/code', { code: app.code(), return_to: interaction }, {}, toCode);
    expect(back.headers.get('location')).toBe(interaction);
    expect((await browser.get(interaction)).body).toContain('Allow Studio?');
  });
});

describe('changing codes', () => {
  const change = (browser: ReturnType<OauthUnderTest['browser']>, code: string, what: 'codes' | 'off') =>
    browser.post(`${secondFactorPath}/change`, { code, change: what }, {}, secondFactorPath);

  test('new recovery codes take a code, and replace the earlier ones', async () => {
    const { browser, email, password, app } = await withCodes('Ned');
    expect((await change(browser, '000000', 'codes')).status).toBe(422);
    const answer = await change(browser, app.code(), 'codes');
    const codes = recoveryCodesIn(answer.body);
    expect([codes.length, codes.filter((code) => app.recoveryCodes.includes(code))]).toEqual([10, []]);
    expect((await pages.mailTo(email, 3)).subject).toBe('You have new recovery codes for Longwave');
    const waiting = (await apps.waiting(email, password, '198.51.100.10')).browser;
    expect((await apps.giveCode(waiting, app.recoveryCodes[0]!)).status).toBe(422);
    expect((await apps.giveCode(waiting, codes[0]!)).status).toBe(303);
  });

  test('switching off takes a code or a recovery code; then the password is enough, and nothing waits for a code', async () => {
    const { browser, email, password, app } = await withCodes('Ola');
    const waiting = (await apps.waiting(email, password, '198.51.100.11')).browser;
    expect((await change(browser, '', 'off')).headers.get('location')).toBe(secondFactorPath);
    const off = await change(browser, app.recoveryCodes[3]!, 'off');
    expect(off.headers.get('location')).toBe('/settings/security');
    expect(await securityPage(browser)).toContain('Signing in takes the password alone');
    expect((await pages.mailTo(email, 4)).subject).toBe('Signing in to Longwave takes no code any more');
    expect((await waiting.get('/sign-in/code')).status).toBe(303);
    const { answer } = await apps.waiting(email, password, '198.51.100.11');
    expect(answer.headers.get('location')).toBe('/');
    expect(
      (
        await pages.pool.query(
          'select from recovery_code c where not exists (select from second_factor f where f.user_id = c.user_id)',
        )
      ).rowCount,
    ).toBe(0);
  });

  test('the operator switches codes off, and the person hears of it', async () => {
    const { browser, email, password } = await withCodes('Pia');
    const { rows } = await pages.pool.query<{ id: string; workspace_id: string }>(
      `select id, workspace_id from resource where resource_type = 'users' and attributes->>'email' = $1`,
      [email],
    );
    const { id, workspace_id: workspaceId } = rows[0]!;
    pages.server.clock.now = new Date();
    const remove = () => pages.server.send(workspaceId, 'user.remove_second_factor', {}, { subjectId: id });
    await remove();
    const page = await securityPage(browser);
    expect([page.includes('Switch on codes'), page.includes('by the operator')]).toEqual([true, true]);
    expect((await pages.mailTo(email, 3)).subject).toBe('Signing in to Longwave takes no code any more');
    const { answer } = await apps.waiting(email, password, '198.51.100.12');
    expect(answer.headers.get('location')).toBe('/');
    await expect(remove()).rejects.toThrow();
  });
});

test('a database and a log contain no secret, no code and no value of the cookie that waits', async () => {
  const { browser, email, password, app } = await withCodes('Quin');
  const waiting = (await apps.waiting(email, password, '198.51.100.13')).browser;
  const text = waiting.cookies.get('lw_wait')!;
  const code = app.code();
  expect((await apps.giveCode(waiting, code)).status).toBe(303);
  await browser.get(secondFactorPath);
  const [dump, logs] = [await pages.dump(), pages.server.logLines.join('\n')];
  expect([dump.includes(email), logs.includes('request.served')]).toEqual([true, true]);
  const recoveryCodes = app.recoveryCodes.flatMap((one) => [one, one.replaceAll('-', '')]);
  const secrets = [app.secret, app.sealed, text, ...recoveryCodes];
  expect(secrets.filter((one) => dump.includes(one) || logs.includes(one))).toEqual([]);
  expect(logs).not.toMatch(new RegExp(`\\b${code}\\b`));
});
