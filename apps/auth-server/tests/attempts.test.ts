import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePorts } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { Redis } from 'ioredis';
import pMap from 'p-map';
import { createAttemptLimit } from '../src/passwords/attempt-limit.ts';
import { createCheckPassword } from '../src/passwords/check-password.ts';
import { createCheckCode } from '../src/second-factor/check-code.ts';
import { insertSecondFactor } from '../src/second-factor/second-factor-table.ts';
import { createSecretSeal } from '../src/second-factor/secret-seal.ts';
import { newTotpSecret } from '../src/second-factor/totp.ts';
import { createApps } from './_codes.ts';
import { startPages, tokenOf, type PagesUnderTest } from './_pages.ts';

let pages: PagesUnderTest;
beforeAll(async () => {
  pages = await startPages();
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());

const signIn = (browser: ReturnType<PagesUnderTest['browser']>, email: string, password: string) =>
  browser.post('/sign-in', { email, password }, {}, '/sign-in');

test('10,000 wrong passwords from 10,000 addresses cost at most 200 hashes, and the owner still gets in', async () => {
  const { email, password, browser } = await pages.signedUp('Ada');
  await using redis = Object.assign(new Redis(pages.server.redis.url), {
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  });
  const checkPassword = createCheckPassword({
    ...{ pool: pages.pool, limit: createAttemptLimit(redis) },
  });
  const outcomes = await pMap(
    Array.from({ length: 10_000 }, (_, index) => index),
    async (index) => {
      const attempt = { email, password: `wrong ${index}`, sender: `sender ${index}`, deviceDigest: undefined };
      return (await checkPassword(attempt)).outcome;
    },
    { concurrency: 20 },
  );
  const hashes = outcomes.filter((outcome) => outcome !== 'throttled').length;
  expect([hashes > 0, hashes <= 200]).toEqual([true, true]);

  await browser.post('/sign-out', {}, {});
  expect((await signIn(browser, email, password)).status).toBe(303);
  const elsewhere = pages.browser('198.51.100.7');
  expect((await signIn(elsewhere, email, password)).status).toBe(429);
  await elsewhere.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await pages.mailTo(email, 2);
  await elsewhere.post('/sign-in/reset/finish', { token: tokenOf(link), email, password: 'a new password' }, {}, link);
  expect((await elsewhere.get('/settings')).status).toBe(200);
  await elsewhere.post('/sign-out', {});
  expect((await signIn(elsewhere, email, 'a new password')).status).toBe(303);
});

test('a cookie of somebody else’s browser opens no door that the limit has closed', async () => {
  const [victim, attacker] = [await pages.signedUp('Ben'), await pages.signedUp('Eve')];
  for (let attempt = 0; attempt < 10; attempt++) await signIn(attacker.browser, victim.email, 'wrong');
  expect((await signIn(attacker.browser, victim.email, victim.password)).status).toBe(429);
});

/** A check of codes that counts in the Redis of an address, and a person with a second factor. */
async function codeChecks(url: string) {
  const seal = createSecretSeal(() => [{ kty: 'oct', kid: '1', k: Buffer.alloc(32, 7).toString('base64url') }]);
  const user = { id: newId('usr'), email: 'somebody@example.com' };
  const [sealed, now] = [await seal.seal(user.id, newTotpSecret()), new Date()];
  await transaction(pages.pool, (tx) => insertSecondFactor(tx, user.id, { sealed, step: 0, codeDigests: [] }, now));
  const redis = new Redis(url, { maxRetriesPerRequest: 0 }).on('error', () => undefined);
  let checked = 0;
  const checkCode = createCheckCode({
    ...{ pool: pages.pool, limit: createAttemptLimit(redis), clock: () => now, tell: async () => undefined },
    seal: { ...seal, open: (...sealedSecret) => (checked++, seal.open(...sealedSecret)) },
  });
  return {
    check: (code: string, sender: string) => checkCode({ user, code, sender }),
    checked: () => checked,
    [Symbol.dispose]: () => redis.disconnect(),
  };
}

test('of 10,000 codes from 10,000 addresses at most 50 are checked, and a recovery code is still looked at', async () => {
  using codes = await codeChecks(pages.server.redis.url);
  const outcomes = await pMap(
    Array.from({ length: 10_000 }, (_, index) => index),
    async (index) => (await codes.check(String(index).padStart(6, '0'), `sender ${index}`)).outcome,
    { concurrency: 20 },
  );
  expect(codes.checked()).toBe(50);
  expect(outcomes.filter((outcome) => outcome !== 'throttled').length).toBeLessThanOrEqual(50);
  expect((await codes.check('00000-00000-00000-00000', 'another sender')).outcome).toBe('refused');
});

test('one address gives at most 60 codes in 15 minutes, recovery codes among them, and none is checked without Redis', async () => {
  using codes = await codeChecks(pages.server.redis.url);
  const outcomes = [];
  for (let attempt = 0; attempt < 40; attempt++) {
    using others = await codeChecks(pages.server.redis.url);
    for (const code of ['123456', '00000-00000-00000-00000'])
      outcomes.push((await others.check(code, 'one sender')).outcome);
  }
  expect(outcomes.map((outcome) => outcome === 'throttled').lastIndexOf(false)).toBe(59);
  expect((await codes.check('123456', 'one sender')).outcome).toBe('throttled');

  using uncounted = await codeChecks(`redis://127.0.0.1:${(await freePorts(1))[0]!}`);
  for (const code of ['123456', '00000-00000-00000-00000'])
    await expect(uncounted.check(code, 'a sender')).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(uncounted.checked()).toBe(0);
});

test('after five wrong codes from an address the right one does not help there, and the person hears of it once; a recovery code leads in, and so does another address', async () => {
  const { email, password, browser: own } = await pages.signedUp('Dan');
  const apps = createApps(pages);
  const app = await apps.switchOn(own);
  const here = (await apps.waiting(email, password, '198.51.100.40')).browser;
  for (let attempt = 0; attempt < 5; attempt++) expect((await apps.giveCode(here, 'wrong')).status).toBe(422);
  const refused = await apps.giveCode(here, app.code());
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(refused.body).toContain('There were too many codes.');
  const again = (await apps.waiting(email, password, '198.51.100.40')).browser;
  expect((await apps.giveCode(again, app.code())).status).toBe(429);
  expect((await apps.giveCode(here, app.recoveryCodes[0]!)).status).toBe(303);
  const elsewhere = (await apps.waiting(email, password, '198.51.100.41')).browser;
  expect((await apps.giveCode(elsewhere, app.code())).status).toBe(303);
  await pages.mailTo(email, 4);
  const warnings = pages.readMails().filter(({ to, subject }) => to === email && subject.includes('wrong codes'));
  expect(warnings).toHaveLength(1);
  const page = (await own.get('/settings/security')).body;
  expect(page.match(/Too many wrong codes were given after the right password/g)).toHaveLength(1);
});

test('a database and a log contain no password, no value of a cookie, no token of a link, and the log no address', async () => {
  const { email, password, browser } = await pages.signedUp('Cid');
  await signIn(pages.browser('198.51.100.8'), email, 'a wrong password');
  await pages.browser().post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await pages.mailTo(email, 2);
  await pages.browser().get(link);
  const tables = await pages.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'identity'`,
  );
  let dump = '';
  for (const { name } of tables.rows)
    dump += (await pages.pool.query<{ row: string }>(`select t::text as row from ${name} t`)).rows
      .map(({ row }) => row)
      .join('\n');
  const logs = pages.server.logLines.join('\n');
  expect([dump.includes(email), logs.includes('request.served')]).toEqual([true, true]);
  const secrets = [
    ...[password, 'a wrong password', tokenOf(link), 'lw_once_', 'lw_ses_'],
    ...[...browser.cookies.values()],
  ];
  expect(secrets.filter((secret) => dump.includes(secret) || logs.includes(secret))).toEqual([]);
  expect([logs.includes('@example.com'), logs.includes('198.51.100.8')]).toEqual([false, false]);
});

test('nobody uses up the mails of an address by asking for others, or for mails that nobody gets', async () => {
  const [{ email }, stranger] = [await pages.signedUp('Eli'), await pages.signedUp('Fay')];
  for (let mail = 0; mail < 6; mail++) await stranger.browser.post('/settings/email', { email });
  await pages.browser('198.51.100.60').post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  expect((await pages.mailTo(email, 2)).subject).toBe('Choose a new password for Longwave');

  const newcomer = `${newId('usr')}@example.com`;
  const other = pages.browser('198.51.100.61');
  for (let mail = 0; mail < 6; mail++) await other.post('/sign-in/reset', { email: newcomer }, {}, '/sign-in/reset');
  for (let mail = 0; mail < 6; mail++) await stranger.browser.post('/settings/email', { email: newcomer });
  await pages.browser('198.51.100.62').post('/sign-up', { name: 'New', email: newcomer }, {}, '/sign-up');
  await pages.mailTo(newcomer, 6);
  const subjects = pages.readMails().flatMap(({ to, subject }) => (to === newcomer ? [subject] : []));
  expect([subjects.length, subjects.includes('Finish signing up to Longwave')]).toEqual([6, true]);
});
