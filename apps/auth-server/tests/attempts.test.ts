import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pMap from 'p-map';
import { createAttemptLimit } from '../src/passwords/attempt-limit.ts';
import { createCheckPassword } from '../src/passwords/check-password.ts';
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
    ...{ pool: pages.pool, limit: createAttemptLimit(redis), clock: () => new Date() },
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
}, 60_000);

test('a cookie of somebody else’s browser opens no door that the limit has closed', async () => {
  const [victim, attacker] = [await pages.signedUp('Ben'), await pages.signedUp('Eve')];
  for (let attempt = 0; attempt < 10; attempt++) await signIn(attacker.browser, victim.email, 'wrong');
  expect((await signIn(attacker.browser, victim.email, victim.password)).status).toBe(429);
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
