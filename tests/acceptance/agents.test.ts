import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';
import {
  consentTo,
  createAccount,
  createRestClient,
  issueCredential,
  signUp,
  registerConnector,
  type Person,
} from '@longwave/test-kit/clients';
import * as v2 from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createAgentMemory, grantAccess, type AgentMemory } from '../_agent-access.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const script = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
let world: SharedInstallation;
/** One person for all tests: an installation mails twenty sign-ups of one sender an hour. */
let ada: Person;
beforeAll(async () => {
  world = await openSharedInstallation();
  ada = await signUp(world, 'Ada');
}, 120_000);
afterAll(async () => world[Symbol.asyncDispose]());

const info = { name: 'an agent', version: '1' };

/** A sign-in as `longwave login` stores it, with a token that lives for an hour. */
function storeSignIn(token: string): string {
  const folder = path.join(world.folder, 'settings');
  mkdirSync(path.join(folder, 'longwave'), { recursive: true });
  const session = {
    ...{ issuer: world.fleet.urls.base, resource: `${world.fleet.urls.mcp}/mcp`, scope: 'mcp:read' },
    ...{ access_token: token, expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  };
  writeFileSync(path.join(folder, 'longwave/sign-in.json'), JSON.stringify({ mcp: session }), { mode: 0o600 });
  return folder;
}

test('an agent that starts programs works through `longwave mcp` in the account of the sign-in, and sees no other', async () => {
  const account = await createAccount(world.operator);
  const other = await createAccount(world.operator);
  const { text } = await issueCredential(world.operator, account.accountId, {
    ...{ kind: 'mcp_personal_token', name: 'agent', scope: 'read' },
  });
  const rest = (key: string) => createRestClient(world.fleet.urls.base, key);
  const own = await rest(account.apiKey).post<{ id: string }>('/podcasts', { title: 'Signals', language: 'en' });
  await rest(other.apiKey).post('/podcasts', { title: 'Not mine', language: 'en' });
  const client = new Client(info);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [script, 'mcp'],
      env: { ...bareEnvironment, XDG_CONFIG_HOME: storeSignIn(text) },
    }),
  );
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('get_account');
  const podcasts = await client.callTool({ name: 'list_podcasts', arguments: {} });
  expect(JSON.stringify(podcasts.structuredContent)).toContain(own.id);
  expect(JSON.stringify(podcasts.structuredContent)).not.toContain('Not mine');
  await client.close();
});

test('longwave whoami prints one JSON document that names the installation and the account of the sign-in', async () => {
  const { accountId } = await createAccount(world.operator);
  const { text } = await issueCredential(world.operator, accountId, {
    ...{ kind: 'mcp_personal_token', name: 'agent', scope: 'read' },
  });
  const env = { ...bareEnvironment, XDG_CONFIG_HOME: storeSignIn(text) };
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'whoami'], { env });
  expect(JSON.parse(stdout)).toEqual([
    {
      ...{ api: 'mcp', installation: world.fleet.urls.base, resource: `${world.fleet.urls.mcp}/mcp` },
      ...{ scopes: ['mcp:read'], account: expect.objectContaining({ id: accountId }) },
    },
  ]);
});

/** A connection by each line of the SDK, which finds its way to a token by itself. */
const lines = {
  first: (url: URL, authProvider: AgentMemory['provider']) => {
    const transport = new StreamableHTTPClientTransport(url, { authProvider });
    const client = new Client(info);
    const finish = (answer: URL) => transport.finishAuth(answer.searchParams.get('code')!);
    return { client, connect: () => client.connect(transport), finish };
  },
  second: (url: URL, authProvider: AgentMemory['provider']) => {
    const transport = new v2.StreamableHTTPClientTransport(url, { authProvider });
    const client = new v2.Client(info, { versionNegotiation: { mode: 'auto' } });
    const finish = (answer: URL) => transport.finishAuth(answer.searchParams);
    return { client, connect: () => client.connect(transport), finish };
  },
} as const;

test.each(['first', 'second'] as const)(
  'the %s line of the SDK needs the address of the server, its client_id and a person: it gets tokens and renews them',
  async (line) => {
    const clientId = await registerConnector(world);
    const { kept, provider } = createAgentMemory(clientId);
    const url = new URL(`${world.fleet.urls.mcp}/mcp`);
    const asking = lines[line](url, provider);
    await expect(asking.connect()).rejects.toThrow('Unauthorized');
    const choice = { account: ada.accountId, scope: 'mcp:read' };
    await asking.finish(await consentTo(ada.browser, kept.address!.href, choice));
    const { client, connect } = lines[line](url, provider);
    await connect();
    const account = async () => (await client.callTool({ name: 'get_account', arguments: {} })).structuredContent;
    expect(await account()).toMatchObject({ id: ada.accountId });
    const { refresh_token: used } = kept.tokens!;
    kept.tokens = { ...kept.tokens!, access_token: 'outdated' };
    expect(await account()).toMatchObject({ id: ada.accountId });
    expect(kept.tokens.refresh_token).not.toBe(used);
    await client.close();
  },
);

test('an agent whose person allowed it works through both lines of the SDK, until the person ends its access', async () => {
  const { tokens } = await grantAccess(world, ada, await registerConnector(world));
  const url = new URL(`${world.fleet.urls.mcp}/mcp`);
  const requestInit = { headers: { Authorization: `Bearer ${tokens.access_token}` } };
  const [first, second] = [new Client(info), new v2.Client(info, { versionNegotiation: { mode: 'auto' } })];
  await first.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  await second.connect(new v2.StreamableHTTPClientTransport(url, { requestInit }));
  const calls = [first, second].map((client) => () => client.callTool({ name: 'get_account', arguments: {} }));
  for (const call of calls) expect((await call()).structuredContent).toMatchObject({ id: ada.accountId });

  const list = (await ada.browser.get('/settings/connectors')).body;
  const grant = /name="grant" value="([^"]+)"/.exec(list)![1]!;
  await ada.browser.post('/settings/connectors', { grant });
  const answer = await fetch(url, { method: 'POST', ...requestInit });
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  for (const call of calls) await expect(call()).rejects.toThrow(/token is not valid for this resource/);
  await Promise.all([first.close(), second.close()]);
});
