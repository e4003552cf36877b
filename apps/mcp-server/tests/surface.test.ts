import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { mcpScopes } from '../src/http/scopes.ts';
import { runTool } from '../src/run-tool.ts';
import { tools } from '../src/tools/tools.ts';
import { onlyScope } from './_people.ts';
import { baseUrl, openInstallation, startMcpServer, type McpUnderTest } from './_mcp.ts';

const stack = new AsyncDisposableStack();
let mcp: McpUnderTest;
beforeAll(async () => {
  mcp = stack.use(await startMcpServer(await openInstallation(stack)));
});
afterAll(() => stack.disposeAsync());

const call = (name: string, args: object = {}, id: number | string = 1) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
});
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const as = (token: string) => ({ Authorization: `Bearer ${token}` });
const metadataUrl = () => `${mcp.url}/.well-known/oauth-protected-resource/mcp`;
const firstScopes = 'mcp:read mcp:analytics.read';

describe('metadata', () => {
  test.each(['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource'])(
    '%s describes the protected resource',
    async (path) => {
      const response = await fetch(mcp.url + path);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      expect(await response.json()).toEqual({
        resource: `${mcp.url}/mcp`,
        resource_name: 'Longwave MCP',
        authorization_servers: [baseUrl],
        scopes_supported: [...mcpScopes],
        bearer_methods_supported: ['header'],
        resource_documentation: `${baseUrl}/api-docs`,
        resource_tos_uri: `${baseUrl}/terms`,
      });
    },
  );

  test('the metadata of an authorization server that does not answer are unavailable', async () => {
    const response = await fetch(`${mcp.url}/.well-known/oauth-authorization-server`);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
  });

  test.each([
    ['/icon.svg', 'image/svg+xml'],
    ['/icon.png', 'image/png'],
  ])('%s is an icon', async (path, type) => {
    const response = await fetch(mcp.url + path);
    expect(response.headers.get('content-type')).toContain(type);
  });
});

describe('authorization', () => {
  test('a request without a token is asked for the scopes of daily work, without an error code', async () => {
    const response = await mcp.post(list);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${metadataUrl()}", scope="${firstScopes}"`,
    );
  });

  test.each([
    ['an unknown text', as('svc_live_unknown')],
    ['another scheme', { Authorization: 'Basic b3duZXI6' }],
    ['a text with a space', { Authorization: 'Bearer owner owner' }],
    ['a text that is far too long', as('a'.repeat(9_000))],
  ])('%s is refused like every invalid token', async (_what, headers) => {
    const response = await mcp.post(list, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", error_description="The access token is not valid for this resource", resource_metadata="${metadataUrl()}", scope="${firstScopes}"`,
    );
  });

  test('the header Token is never read: alone it is no token, beside a good one it changes nothing', async () => {
    expect((await mcp.post(list, { Token: 'owner' })).status).toBe(401);
    expect((await mcp.post(list, { Token: 'svc_live_unknown', ...as('owner') })).status).toBe(200);
  });

  test('a revoked token is refused at the next request', async () => {
    expect((await mcp.post(list, as('second'))).status).toBe(200);
    mcp.revoked.add('second');
    expect((await mcp.post(list, as('second'))).status).toBe(401);
    mcp.revoked.delete('second');
  });

  test('a tool call without a valid token is also answered as a failed tool with the challenge', async () => {
    const response = await mcp.post(call('get_account', {}, 'seven'));
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      id: 'seven',
      result: {
        isError: true,
        structuredContent: { code: 'token_missing' },
        _meta: { 'mcp/www_authenticate': [response.headers.get('www-authenticate')] },
      },
    });
  });

  test('a missing scope is 403 with every scope that the call needs, and a failed tool with the same challenge', async () => {
    const response = await mcp.post(call('get_podcast_analytics', {}), as(onlyScope('mcp:read')));
    expect(response.status).toBe(403);
    const challenge = `Bearer error="insufficient_scope", scope="mcp:analytics.read", resource_metadata="${metadataUrl()}"`;
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(await response.json()).toMatchObject({
      result: {
        isError: true,
        content: [{ type: 'text', text: 'The access token lacks the scope mcp:analytics.read.' }],
        structuredContent: { code: 'insufficient_scope' },
        _meta: { 'mcp/www_authenticate': [challenge] },
      },
    });
  });

  test.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s is refused to a token without scopes, and named with its scopes',
    async (name, tool) => {
      const response = await mcp.post(call(name), as('nothing'));
      expect(response.status).toBe(403);
      expect(response.headers.get('www-authenticate')).toContain(`scope="${tool.scopesFor({}).join(' ')}"`);
    },
  );

  test.each([
    ['mcp:episodes.write', 'get_account'],
    ['mcp:media.write', 'get_account'],
    ['mcp:episodes.publish', 'get_account'],
    ['mcp:content.delete', 'get_account'],
  ])('%s contains the scope of %s', async (scope, name) => {
    expect((await mcp.post(call(name), as(onlyScope(scope)))).status).toBe(200);
  });

  test.each(['mcp:ads.read', 'mcp:analytics.read'])('%s contains no other scope', async (scope) => {
    expect((await mcp.post(call('get_account'), as(onlyScope(scope)))).status).toBe(403);
  });

  const guarded: readonly (readonly [string, object])[] = [
    ['tools/call', { name: 'get_account', arguments: {} }],
    ['resources/read', { uri: 'podcast:///pod_1' }],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'podcast:///{id}' }, argument: { name: 'id', value: '' } },
    ],
  ];
  const disguises = ['uri', 'name'].flatMap((field) => [5, null, {}, ['docs:']].map((value) => ({ [field]: value })));
  const disguised = guarded.flatMap(([method, params]) =>
    disguises.flatMap((disguise) => [
      [method, JSON.stringify({ ...params, ...disguise })],
      // The key that comes later wins in one reader, the first in another.
      [method, JSON.stringify({ ...disguise, ...params }).replace(/}$/, `,${JSON.stringify(disguise).slice(1)}`)],
    ]),
  );
  test.each(disguised)('%s %s goes past no check of scopes', async (method, params) => {
    const sent = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
    const response = await mcp.post(sent, as(onlyScope('mcp:ads.read')));
    expect([400, 403]).toContain(response.status);
  });

  test.each(tools.map((tool) => [tool.name, tool] as const))(
    '%s asks for its scopes again, behind the checks of the request',
    async (_name, tool) => {
      const unused = new Proxy({}, { get: () => () => expect(tool.name).toBe('never run') });
      const session = { holder: { caller: {}, scopes: [], grant: 'g' }, requestId: 'req_1', logger: unused };
      const { structuredContent } = await runTool(
        { ...tool, input: z.looseObject({}) },
        { kind: 'episode' },
        session as never,
        unused as never,
      );
      expect(structuredContent).toMatchObject({ code: 'insufficient_scope' });
    },
  );

  test('tools are listed to every token, so that a client knows what it may ask for', async () => {
    const client = await mcp.connect('nothing');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    await client.close();
  });
});

describe('requests', () => {
  test.each(['GET', 'DELETE', 'PUT', 'HEAD'])('%s is no method of the resource', async (method) => {
    const response = await fetch(`${mcp.url}/mcp`, { method, headers: as('owner') });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  const malformed: readonly (readonly [string, number, unknown, Record<string, string>])[] = [
    ['a body that is no JSON', 400, '{', {}],
    ['a batch', 400, [list, list], {}],
    ['an empty body', 400, '', {}],
    ['a body that is not UTF-8', 400, '{"jsonrpc":"2.0","id":1,"method":"\xff"', {}],
    ['another media type', 415, list, { 'content-type': 'text/plain' }],
    [
      'arguments that lie 200,000 deep',
      400,
      JSON.stringify(call('get_account', { a: 0 })).replace('0}', `${'['.repeat(200_000)}${']'.repeat(200_000)}}`),
      {},
    ],
    [
      '170,000 arguments',
      400,
      call('get_account', Object.fromEntries(Array.from({ length: 170_000 }, (_, i) => [i, 0]))),
      {},
    ],
    ['a body above 2 MiB', 413, 'a'.repeat(2 * 1024 * 1024 + 1), {}],
    ['an origin of somebody else', 403, list, { Origin: 'https://evil.example' }],
    ['the origin null', 403, list, { Origin: 'null' }],
    ['an unknown protocol version', 400, list, { 'MCP-Protocol-Version': '1999-01-01' }],
  ];
  test.each(malformed)('%s is refused with %i', async (_what, status, body, headers) => {
    const response = await mcp.post(body, { ...as('owner'), ...headers });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  });

  test('of a long body nothing is parsed before the token is known', async () => {
    const long = JSON.stringify(call('get_account', { text: 'a'.repeat(100_000) }, 'seven'));
    const response = await mcp.post(long, as('unknown'));
    expect([response.status, await response.json()]).toEqual([401, expect.objectContaining({ id: null })]);
  });

  test('a host of somebody else is refused', async () => {
    const headers = { ...as('owner'), host: 'evil.example', 'content-type': 'application/json' };
    const sent = request(`${mcp.url}/mcp`, { method: 'POST', headers }).end(JSON.stringify(list));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(403);
  });

  test('an unknown method is answered with its code', async () => {
    const response = await mcp.post({ ...list, method: 'tools/invent' }, as('owner'));
    expect(await response.text()).toContain('-32601');
  });

  test('pages of an allowed origin may read the challenge', async () => {
    const origin = new URL(mcp.url).origin;
    const preflight = await fetch(`${mcp.url}/mcp`, { method: 'OPTIONS', headers: { Origin: origin } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
    const response = await mcp.post(list, { Origin: origin });
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });

  test('a client over its rate waits', async () => {
    await mcp.post(list, as('slow'));
    await mcp.post(list, as('slow'));
    const response = await mcp.post(list, as('slow'));
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('no line of the log has a token', async () => {
    await mcp.post(call('get_account'), as('owner'));
    const lines = mcp.logLines.filter((line) => line.includes('tools/call get_account'));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of mcp.logLines) expect(line).not.toMatch(/Bearer|"owner"/);
  });

  test('no line of the log has a text of the client, not even as the name of a method or a tool', async () => {
    await mcp.post({ ...list, method: 'madeup/method' }, as('owner'));
    await mcp.post(call('madeup_tool'), as('owner'));
    const log = mcp.logLines.join('');
    expect(log).toContain('"operation":"other"');
    expect(log).toContain('"operation":"tools/call other"');
    expect(log).not.toContain('madeup');
  });
});

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  test('learns of the server, and finds every tool with title, schemas, icons and all four hints', async () => {
    const client = await mcp.connect('owner', era);
    expect(client.getInstructions()).toContain('confirm_token');
    expect(client.getServerVersion()).toMatchObject({ name: 'longwave', title: 'Longwave' });
    const { tools: listed } = await client.listTools();
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
    for (const tool of listed) {
      expect(tool).toMatchObject({
        title: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: 'object', additionalProperties: false },
        outputSchema: { type: 'object' },
        annotations: {
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: true,
          openWorldHint: expect.any(Boolean),
        },
      });
      expect(tool.icons?.map(({ mimeType }) => mimeType)).toEqual(['image/png', 'image/svg+xml']);
    }
    await client.close();
  });

  test('gets a failure that it can correct for wrong arguments', async () => {
    const client = await mcp.connect('owner', era);
    const result = await client.callTool({ name: 'get_podcast', arguments: { podcast: 'x' } });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: 'validation_failed', field: '/podcast_id', trace_id: expect.stringMatching(/^req_/) },
    });
    expect(result._meta?.['mcp/www_authenticate']).toBeUndefined();
    await client.close();
  });

  test('gets an error for a tool that does not exist', async () => {
    const client = await mcp.connect('owner', era);
    await expect(client.callTool({ name: 'invent', arguments: {} })).rejects.toMatchObject({ code: -32_602 });
    await client.close();
  });

  test('is told when a service behind is away, without details', async () => {
    const client = await mcp.connect('owner', era);
    const result = await client.callTool({ name: 'list_podcasts', arguments: {} });
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'temporarily_unavailable' } });
    expect(JSON.stringify(result)).not.toMatch(/127\.0\.0\.1|ECONN/);
    await client.close();
  });
});

test('nothing is accepted while auth-server is away', async () => {
  await mcp.stopAuthServer();
  const response = await mcp.post(list, as('owner'));
  expect(response.status).toBe(503);
});
