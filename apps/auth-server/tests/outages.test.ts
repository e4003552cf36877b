import { expect, test } from '@jest/globals';
import { freePorts } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { createBrowser } from '@longwave/test-kit';
import { secretText, startAuthServer } from './_support.ts';

const away = { code: 'temporarily_unavailable', context: { retryAfterSeconds: 1 } };

test('without PostgreSQL verifying and commands are temporarily unavailable, which is no refusal', async () => {
  const databaseUrl = `postgresql://nobody@127.0.0.1:${(await freePorts(1))[0]!}/none`;
  await using server = await startAuthServer({ databaseUrl });
  await expect(server.verify(secretText('lw_key_'))).rejects.toMatchObject(away);
  const changes = { name: 'Studio', plan: 'grow' };
  await expect(server.send(newId('ws'), 'account.create', changes)).rejects.toMatchObject(away);
});

test('without PostgreSQL the authorization server asks clients to try again, and its keys are there', async () => {
  const databaseUrl = `postgresql://nobody@127.0.0.1:${(await freePorts(1))[0]!}/none`;
  await using server = await startAuthServer({ databaseUrl });
  const url = `http://127.0.0.1:${server.app.port}`;
  const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'longwave-cli', refresh_token: 'x' });
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body });
  expect([answer.status, await answer.json()]).toMatchObject([503, { error: 'temporarily_unavailable' }]);
  expect((await fetch(`${url}/oauth/authorize?client_id=longwave-cli`)).status).toBe(503);
  expect((await fetch(`${url}/.well-known/oauth-authorization-server`)).status).toBe(503);
  expect((await fetch(`${url}/oauth/jwks`)).status).toBe(200);
});

test('a running auth-server that loses PostgreSQL is temporarily unavailable until it is back', async () => {
  await using server = await startAuthServer();
  const verify = () => server.verify(secretText('lw_key_'));
  const admin = createPool(server.database.adminUrl, 'identity', { name: 'test', max: 1 });
  const database = new URL(server.database.url).pathname.slice(1);
  try {
    expect(await verify()).toMatchObject({ $case: 'refusal' });
    await admin.query(`alter database ${database} connection limit 0`);
    await admin.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid()`);
    for (let i = 0; i < 3; i++) await expect(verify()).rejects.toMatchObject(away);
    await admin.query(`alter database ${database} connection limit -1`);
    expect(await verify()).toMatchObject({ $case: 'refusal' });
  } finally {
    await admin.end();
  }
});

test('auth-server starts without the bus: it verifies, is not ready, and tries no password, because it cannot count attempts', async () => {
  await using server = await startAuthServer({ redisUrl: `redis://127.0.0.1:${(await freePorts(1))[0]!}` });
  expect(await server.verify(secretText('lw_key_'))).toMatchObject({ $case: 'refusal' });
  expect(await server.app.readiness['bus']!()).toBe(false);
  expect(server.logLines.some((line) => line.includes('follower.retried'))).toBe(true);
  const browser = createBrowser(`http://127.0.0.1:${server.app.port}`);
  const attempt = { email: 'ada@example.com', password: 'any password' };
  const answer = await browser.post('/sign-in', attempt, {}, '/sign-in');
  expect([answer.status, answer.body.includes('This is not possible for a moment.')]).toEqual([503, true]);
  expect((await browser.get('/oauth/authorize?client_id=longwave-cli')).status).toBe(503);
});
