import { expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { createAccount } from '@longwave/test-kit/clients';
import { startTestFleet } from '../_fleet.ts';
import { grantMachineAccess } from '../_machine-access.ts';

test('while auth-server is away the audience API asks producers to come again, and refuses what is no token', async () => {
  await using world = await startTestFleet({ services: ['auth-server', 'management', 'analytics-sink'] });
  const { workspaceId } = await createAccount(world.operator);
  const { clientToken, issuedToken } = await grantMachineAccess(world, workspaceId);
  const ask = (token: string) =>
    fetch(`${world.fleet.urls.api}/audience/v1/watermarks?producer=acme`, {
      headers: { authorization: `Bearer ${token}` },
    });
  const statuses = async () =>
    (await Promise.all([clientToken, issuedToken, 'nothing'].map(ask))).map(({ status }) => status);
  expect(await statuses()).toEqual([200, 200, 401]);
  const authServer = world.fleet.services['auth-server'];
  await authServer.stop();
  expect(await statuses()).toEqual([503, 503, 401]);
  const refused = await ask(clientToken);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ code: 'temporarily_unavailable' });
  await authServer.start();
  await authServer.ready();
  await until('the connection', async () => (await ask(clientToken)).status === 200, { timeoutMs: 10_000 });
  expect((await ask(issuedToken)).status).toBe(200);
});
