import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';
import { createAccount, createRestClient, issueCredential } from '@longwave/test-kit/clients';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

const script = path.resolve(import.meta.dirname, '../../apps/cli/src/main.ts');
let world: SharedInstallation;
beforeAll(async () => {
  world = await openSharedInstallation();
}, 120_000);
afterAll(async () => world[Symbol.asyncDispose]());

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
  const client = new Client({ name: 'an agent', version: '1' });
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
