import { expect, test } from '@jest/globals';
import { createCheckpointSigner, createReceiptLog, makeCheckpoint } from '@longwave/command-pipeline';
import { Refusal, type VerifyRequest } from '@longwave/rpc/credential';
import { createAuthenticate } from '../src/http/authenticate.ts';
import { createNewestCheckpoint, keptMs } from '../src/http/newest-checkpoint.ts';
import { api, management } from './_shared-http.ts';
import { statementsOf } from '@longwave/test-kit/statements';
import { hour } from './_values.ts';
import { createWorld } from './_world.ts';

test('requests are counted for their address before any token is looked at', async () => {
  api.counted.length = 0;
  const path = `/workspaces/${createWorld(management).workspaceId}/resources/campaigns`;
  for (const token of [undefined, 'wrong'])
    expect((await api.call(path, { token, headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(401);
  await api.call('/checkpoint', { headers: { 'x-forwarded-for': '203.0.113.7' } });
  const one = { key: 'management_address:203.0.113.7', limit: 6_000 };
  expect(api.counted).toEqual([one, one, one]);
});

test('a wrong token that is repeated is looked up once, and whoever sends many different ones waits', async () => {
  const asked: string[] = [];
  const verify = async ({ credential }: Pick<VerifyRequest, 'credential'>) => {
    asked.push(credential);
    return { $case: 'refusal' as const, value: Refusal.UNKNOWN_USER };
  };
  const authenticate = createAuthenticate({ verify }, [], management.clock, 'http://base.test');
  const send = (token: string, address = '203.0.113.7') =>
    expect(authenticate({ authorization: `Bearer ${token}` }, address)).rejects.toMatchObject({
      code: 'token_invalid',
    });
  for (let n = 0; n < 20; n++) await send('the-same');
  expect(asked).toEqual(['the-same']);
  for (let n = 0; n < 60; n++) await send(`token-${n}`);
  const beganAt = performance.now();
  const ended: string[] = [];
  const waiting = Promise.all(Array.from({ length: 10 }, (_, n) => send(`more-${n}`))).then(() => ended.push('many'));
  await send('other', '203.0.113.8').then(() => ended.push('other'));
  await waiting;
  expect(performance.now() - beganAt).toBeGreaterThan(400);
  expect(ended).toEqual(['other', 'many']);
});

test('the newest checkpoint is answered from memory for a minute, however many ask', async () => {
  let nowMs = Date.now();
  const clock = () => new Date(nowMs);
  const log = createReceiptLog(management.pool);
  const newest = createNewestCheckpoint(() => log.newestCheckpoint(), clock);
  const sign = createCheckpointSigner(management.receiptKey);
  const make = () =>
    makeCheckpoint({ pool: management.pool, sign, origin: 'http://api.test', everyMs: hour, now: clock() });
  const statements = await statementsOf(management.pool, async () => {
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => newest())))).toEqual(new Set([undefined]));
  });
  expect(statements).toHaveLength(1);
  await createWorld(management).podcast();
  await make();
  expect(await newest()).toBeUndefined();
  nowMs += keptMs;
  const first = await newest();
  expect(first).toBe(await log.newestCheckpoint());
  nowMs += hour;
  await make();
  expect(await newest()).toBe(await log.newestCheckpoint());
  expect(await newest()).not.toBe(first);
});

test('a reading of the checkpoint that fails is not kept', async () => {
  let isAway = true;
  const newest = createNewestCheckpoint(
    async () => {
      if (isAway) throw new Error('away');
      return 'jws';
    },
    () => new Date(0),
  );
  await expect(newest()).rejects.toThrow('away');
  isAway = false;
  expect(await newest()).toBe('jws');
});
