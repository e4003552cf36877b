import { expect, test } from '@jest/globals';
import { startGateway, type GatewayUnderTest } from './_support.ts';

/** The status of an answer and how long it took. */
async function timed(gateway: GatewayUnderTest, credential: string, from: string) {
  const beganAt = performance.now();
  const { status } = await gateway.get('/account', credential, { 'X-Forwarded-For': from });
  return { status, ms: performance.now() - beganAt };
}

/** Sends so many wrong keys that the next lookup for their client waits for about a second: 60, and 20 that wait 50 ms more each. */
async function sendWrongKeys(gateway: GatewayUnderTest, from: string): Promise<void> {
  for (let i = 0; i < 60; i++) await timed(gateway, `wrong${i}`, from);
  await Promise.all(Array.from({ length: 20 }, (_, i) => timed(gateway, `more${i}`, from)));
}

test('behind a trusted proxy a right key does not wait for the wrong keys of another client', async () => {
  await using gateway = await startGateway({ trustedProxies: '127.0.0.0/8' });
  await sendWrongKeys(gateway, '203.0.113.7');
  const [same, other] = await Promise.all([
    timed(gateway, 'stranger', '203.0.113.7'),
    timed(gateway, 'owner', '203.0.113.8'),
  ]);
  expect([other.status, same.status]).toEqual([200, 200]);
  expect(same.ms).toBeGreaterThan(1_000);
  expect(other.ms).toBeLessThan(same.ms);
});

test('addresses of one IPv6 network of 64 bits are one client', async () => {
  await using gateway = await startGateway({ trustedProxies: '127.0.0.0/8' });
  await sendWrongKeys(gateway, '2001:db8:1:2::1');
  const [same, other] = await Promise.all([
    timed(gateway, 'stranger', '2001:db8:1:2:3:4:5:6'),
    timed(gateway, 'owner', '2001:db8:1:3::1'),
  ]);
  expect(same.ms).toBeGreaterThan(1_000);
  expect(other.ms).toBeLessThan(same.ms);
});

test('a client cannot escape the delay by an X-Forwarded-For of its own', async () => {
  await using gateway = await startGateway();
  for (let i = 0; i < 60; i++) await timed(gateway, `wrong${i}`, `203.0.113.${i}`);
  await Promise.all(Array.from({ length: 20 }, (_, i) => timed(gateway, `more${i}`, `203.0.113.${100 + i}`)));
  expect((await timed(gateway, 'owner', '203.0.113.200')).ms).toBeGreaterThan(1_000);
});
