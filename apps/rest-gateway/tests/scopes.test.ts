import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { apiScopes } from '@longwave/principal';
import { routes } from '../src/routes.ts';
import { startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const send = (method: string, path: string, headers: Record<string, string>) =>
  fetch(`${gateway.url}${path}`, { method, headers });

/** A path of an object that does not exist. */
const pathOf = (path: string) => `/api/v1${path.replace('{id}', newId('pod'))}`;

const challenge = (scope: string) =>
  `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="http://longwave.test/.well-known/oauth-protected-resource/api/v1"`;

test('a partner application needs exactly these scopes', () => {
  const needed = Object.fromEntries(
    apiScopes.rest.map((scope) => [
      scope,
      routes.filter((route) => route.scope === scope).map(({ method, path }) => `${method} ${path}`),
    ]),
  );
  expect(needed['api:uploads.write']).toEqual([
    'POST /uploads',
    'POST /uploads/part_url',
    'POST /uploads/complete_multipart_url',
  ]);
  const aboutTheAudience = /\/(analytics|statistics|insights|overview|achievements)(\/|$)/;
  expect(needed['api:analytics.read']).toEqual(
    routes.filter(({ path }) => aboutTheAudience.test(path)).map(({ method, path }) => `${method} ${path}`),
  );
  for (const line of needed['api:read']!) expect(line).toMatch(/^GET /);
  for (const line of needed['api:write']!) expect(line).not.toMatch(/^GET /);
});

test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s refuses an access token without its scope, before it looks for an object',
  async (_name, { method, path, scope }) => {
    for (const granted of apiScopes.rest.filter((one) => one !== scope)) {
      const answer = await send(method, pathOf(path), { Authorization: `Bearer partner ${granted}` });
      expect([answer.status, await answer.json()]).toEqual([
        403,
        { code: 403, message: `The access token lacks the scope ${scope}.` },
      ]);
      expect(answer.headers.get('www-authenticate')).toBe(challenge(scope));
    }
    const answer = await send(method, pathOf(path), { Authorization: `Bearer partner ${scope}` });
    expect(await answer.text()).not.toContain('lacks the scope');
  },
);

test('HEAD needs the scope of GET', async () => {
  expect((await send('HEAD', '/api/v1/podcasts', { Token: 'partner api:write' })).status).toBe(403);
  expect((await send('HEAD', '/api/v1/podcasts', { Token: 'partner api:read' })).status).toBe(200);
});

test.each(['owner', 'legacy_read', 'session'])('the credential %s needs no scope', async (credential) => {
  expect((await send('GET', '/api/v1/podcasts', { Token: credential })).status).toBe(200);
});

test('the metadata of the protected resource names the authorization server and the scopes', async () => {
  const answer = await send('GET', '/.well-known/oauth-protected-resource/api/v1', {});
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await answer.json()).toMatchObject({
    resource: 'http://longwave.test/api/v1',
    authorization_servers: ['http://longwave.test'],
    scopes_supported: apiScopes.rest,
    resource_policy_uri: 'http://longwave.test/policy',
  });
});
