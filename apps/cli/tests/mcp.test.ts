import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { openSessionFile } from '../src/sign-in/session-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-mcp-'));
const environment = { ...bareEnvironment, XDG_CONFIG_HOME: folder };

/** What the MCP server answers to every request. */
let answer = { status: 200, body: {} };
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer.body));
});
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  openSessionFile(environment).write('mcp', {
    ...{ issuer, resource: `${issuer}/mcp`, scope: 'mcp:read', access_token: 'one' },
    expires_at: new Date(Date.now() + 900_000).toISOString(),
  });
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const script = path.resolve(import.meta.dirname, '../src/main.ts');

/** What an agent gets through `longwave mcp` when it calls a tool. */
async function callThroughBridge(): Promise<JSONRPCMessage> {
  const agent = new StdioClientTransport({
    command: process.execPath,
    args: [script, 'mcp'],
    env: environment,
    stderr: 'ignore',
  });
  const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
  agent.onmessage = resolve;
  await agent.start();
  await agent.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'list_ad_campaigns' } });
  const message = await promise;
  await agent.close();
  return message;
}

const challenge = 'Bearer error="insufficient_scope", scope="mcp:ads.read"';
test.each<[string, number, JSONRPCMessage]>([
  [
    'which scope its token lacks',
    403,
    {
      ...{ jsonrpc: '2.0', id: 7 },
      result: { isError: true, content: [], _meta: { 'mcp/www_authenticate': [challenge] } },
    },
  ],
  ['why its request is wrong', 400, { jsonrpc: '2.0', id: 7, error: { code: -32_602, message: 'No such tool.' } }],
])('an agent behind the bridge reads %s in the words of the server', async (_what, status, body) => {
  answer = { status, body };
  expect(await callThroughBridge()).toEqual(body);
});

test('an agent behind the bridge gets an error when the server answers something else', async () => {
  answer = { status: 503, body: { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'Try again later.' } } };
  expect(await callThroughBridge()).toMatchObject({ id: 7, error: { message: expect.stringContaining('Try again') } });
});

const ended = 'This access was ended. Sign in again: npx longwave login --for mcp';

test('an agent behind the bridge, and whoami, hear that the person ended the access', async () => {
  answer = { status: 401, body: { jsonrpc: '2.0', id: 7, error: { code: -32_000, message: 'Not valid.' } } };
  expect(await callThroughBridge()).toMatchObject({ id: 7, error: { message: ended } });
  const whoami = promisify(execFile)(process.execPath, [script, 'whoami'], { env: environment });
  await expect(whoami).rejects.toMatchObject({ code: 1, stdout: '', stderr: `${ended}\n` });
});
