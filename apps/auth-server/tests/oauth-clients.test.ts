import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import { digestOf, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
let workspaceId: string;
beforeAll(async () => {
  server = await startAuthServer();
  workspaceId = newId('ws');
  await server.send(workspaceId, 'account.create', { name: 'Harbour Light', plan: 'network' });
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const connector = {
  kind: 'connector',
  name: 'Studio',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: ['https://studio.example/callback'],
  resources: ['mcp'],
  scopes: ['mcp:read', 'mcp:episodes.write'],
};
const machine = () => ({
  kind: 'machine',
  name: 'Edge network',
  token_endpoint_auth_method: 'client_secret_basic',
  secret_digest: digestOf('secret'),
  grant_types: ['client_credentials'],
  redirect_uris: [],
  resources: ['audience'],
  scopes: ['audience:write'],
  producer: 'acme',
  workspaces: [workspaceId],
});
const authority = () => ({ workspace_id: newId('ws'), authority_id: newId('agr') });
const platform = () => ({
  ...machine(),
  ...{ name: 'Northern Light', resources: ['exchange'], scopes: ['exchange:write', 'exchange:read'] },
  ...{ producer: undefined, workspaces: undefined },
  authority: { ...authority(), workspace_id: workspaceId },
});

const register = (changes: object) => server.send(workspaceId, 'oauth_client.register', changes);

test('a client is registered once by its client_id, revised, disabled and enabled', async () => {
  const { resource } = await register({ client_id: 'studio', ...connector });
  expect(resource).toMatchObject({ id: expect.stringMatching(/^ocl_/), attributes: { client_id: 'studio' } });
  await expect(register({ client_id: 'studio', ...connector })).rejects.toMatchObject({ code: 'value_taken' });
  const { id: subjectId } = resource;
  const revised = await server.send(workspaceId, 'oauth_client.revise', { scopes: ['mcp:read'] }, { subjectId });
  expect(revised.resource.attributes).toEqual({ client_id: 'studio', ...connector, scopes: ['mcp:read'] });
  for (const [verb, state] of [
    ['disable', 'disabled'],
    ['enable', 'active'],
  ])
    expect((await server.send(workspaceId, `oauth_client.${verb}`, {}, { subjectId })).resource).toMatchObject({
      lifecycle_state: state,
    });
});

test('every installation has the client of the command line, with one exact loopback callback', async () => {
  const found = await until('the client', async () => {
    const request = { workspaceId: '', resourceType: 'oauth_clients', links: {}, lifecycleStates: [], limit: 200 };
    const { resourcesJson } = await server.clients.operator.resources.listResources({ ...request, cursor: '' }, {});
    return resourcesJson.find((json) => json.includes('"longwave-cli"'));
  });
  expect(JSON.parse(found)).toMatchObject({
    attributes: { token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1:28417/callback'] },
  });
});

test('a client that proves itself in another way leaves its secret behind', async () => {
  const { resource } = await register({ client_id: 'edge', ...machine() });
  const key = { kty: 'EC', crv: 'P-256', x: 'a'.repeat(43), y: 'b'.repeat(43) };
  const changes = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key] } };
  const revised = await server.send(workspaceId, 'oauth_client.revise', changes, { subjectId: resource.id });
  const { secret_digest: _digest, ...rest } = machine();
  expect(revised.resource.attributes).toEqual({ client_id: 'edge', ...rest, ...changes });
});

test('a client of the exchange keeps its authority when something else of it changes, and loses it with the API', async () => {
  const { resource } = await register({ client_id: 'northern-light', ...platform() });
  const revise = (changes: object) =>
    server.send(workspaceId, 'oauth_client.revise', changes, { subjectId: resource.id });
  const revised = await revise({ name: 'Northern Lights' });
  expect(revised.resource.attributes['authority']).toEqual(resource.attributes['authority']);
  const audience = { resources: ['audience'], scopes: ['audience:read'], producer: 'north', workspaces: [workspaceId] };
  const moved = await revise(audience);
  expect(moved.resource.attributes).toMatchObject(audience);
  expect(moved.resource.attributes).not.toHaveProperty('authority');
  await expect(revise({ authority: platform().authority })).rejects.toMatchObject({ code: 'validation_failed' });
  const back = await revise({ resources: ['exchange'], scopes: ['exchange:write'], authority: platform().authority });
  for (const field of ['producer', 'workspaces']) expect(back.resource.attributes).not.toHaveProperty(field);
});

const document = 'https://studio.example/client.json';
test.each([
  ['plain http', connector, { redirect_uris: ['http://studio.example/callback'] }, 'redirect_uris/0'],
  ['a fragment', connector, { redirect_uris: ['https://studio.example/callback#'] }, 'redirect_uris/0'],
  ['a user in the address', connector, { redirect_uris: ['https://a@studio.example/callback'] }, 'redirect_uris/0'],
  ['a loopback address without port', connector, { redirect_uris: ['http://127.0.0.1/callback'] }, 'redirect_uris/0'],
  ['no address', connector, { redirect_uris: [] }, 'redirect_uris'],
  ['the grant of machines', connector, { grant_types: ['client_credentials'] }, 'grant_types'],
  ['an API of machines', connector, { resources: ['exchange'], scopes: ['exchange:read'] }, 'resources'],
  ['a scope of another API', connector, { scopes: ['api:write'] }, 'scopes'],
  ['a digest without the method', connector, { secret_digest: digestOf('x') }, 'secret_digest'],
  ['a producer', connector, { producer: 'acme' }, 'producer'],
  ['an http document', connector, { client_id: 'http://studio.example/client.json' }, 'client_id'],
  ['a document with a secret', connector, { client_id: document, ...secret() }, 'token_endpoint_auth_method'],
  ['no proof of a machine', machine, { token_endpoint_auth_method: 'none' }, 'token_endpoint_auth_method'],
  ['no workspaces', machine, { workspaces: undefined }, 'workspaces'],
  ['an unknown workspace', machine, { workspaces: [newId('ws')] }, 'workspaces'],
  ['an authority outside the exchange', producerWithAuthority, {}, 'authority'],
  ['no authority in the exchange', platform, { authority: undefined }, 'authority'],
  ['an authority in an unknown workspace', platform, { authority: authority() }, 'authority/workspace_id'],
  ['an id that no grant can name', platform, { client_id: 'Northern-Light' }, 'client_id'],
  ['a redirect address of a machine', machine, { redirect_uris: connector.redirect_uris }, 'redirect_uris'],
  ['a private key', machine, { jwks: { keys: [{ ...key(), d: 'x' }] } }, 'jwks/keys/0'],
])('a client with %s is refused by name', async (_what, base, more, field) => {
  const changes = { client_id: 'refused', ...(typeof base === 'function' ? base() : base), ...more };
  await expect(register(changes)).rejects.toMatchObject({
    code: 'validation_failed',
    context: {
      errors: expect.arrayContaining([
        expect.objectContaining({ path: expect.stringMatching(new RegExp(`^/changes/${field}`)) }),
      ]),
    },
  });
});

function producerWithAuthority() {
  return { ...machine(), authority: platform().authority };
}
function secret() {
  return { token_endpoint_auth_method: 'client_secret_basic', secret_digest: digestOf('secret') };
}
function key() {
  return { kty: 'EC', crv: 'P-256', x: 'a'.repeat(43), y: 'b'.repeat(43) };
}
