import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { awayAddresses, developmentCa, freePort, startTestRedis, type IdentityFiles } from '@longwave/fleet';
import { readTls, serveRpc } from '@longwave/rpc';
import { createLogger } from '@longwave/service-kit';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { createApp } from '../src/app.ts';
import { readConfiguration } from '../src/config.ts';
import type { Addition } from '../src/create-mcp-server.ts';
import { authServerServices } from './_people.ts';

export const baseUrl = 'http://longwave.test';
export const mediaUrl = 'http://media.test';

const services = [
  'mcp-server',
  'auth-server',
  'management',
  'analytics-sink',
  'public-delivery',
  'rest-gateway',
] as const;

/** Keys and certificates of an installation, and a Redis. */
export async function openInstallation(stack: AsyncDisposableStack) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-server-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const identities = await developmentCa(path.join(folder, 'ca'), services, new Date());
  const pair = await generateKeyPair('EdDSA', { extractable: true });
  const header = { kid: 'one', alg: 'EdDSA' };
  const principalKeys = path.join(folder, 'principal-keys.json');
  writeFileSync(principalKeys, JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), ...header }] }));
  const signingKey: JWK = { ...(await exportJWK(pair.privateKey)), ...header };
  const redis = stack.use(await startTestRedis());
  return { folder, identities, principalKeys, signingKey, redisUrl: redis.url };
}

interface Addresses {
  readonly management?: string;
  readonly analyticsSink?: string;
}

const environmentOf = (own: IdentityFiles, redisUrl: string, addresses: Addresses) => ({
  HEALTH_LISTEN: '127.0.0.1:0',
  TLS_CA: own.ca,
  TLS_CERT: own.cert,
  TLS_KEY: own.key,
  REDIS_URL: redisUrl,
  ...awayAddresses('mcp-server'),
  ...(addresses.management && { MANAGEMENT_ADDRESS: addresses.management }),
  ...(addresses.analyticsSink && { ANALYTICS_SINK_ADDRESS: addresses.analyticsSink }),
  BASE_URL: baseUrl,
  TERMS_URL: `${baseUrl}/terms`,
  MEDIA_URL: mediaUrl,
});

/** The MCP server in process over a stand-in for auth-server; services without an address are away. */
export async function startMcpServer(
  installation: Awaited<ReturnType<typeof openInstallation>>,
  addresses: Addresses = {},
  addition?: Addition,
) {
  await using stack = new AsyncDisposableStack();
  const { identities, signingKey, redisUrl } = installation;
  const revoked = new Set<string>();
  const authServer = await serveRpc({
    listen: '127.0.0.1:0',
    tls: readTls(identities['auth-server']),
    services: authServerServices(signingKey, (token) => revoked.has(token)),
    onError: (error) => {
      throw error;
    },
  });
  stack.defer(() => authServer.close(100));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logLines: string[] = [];
  stack.use(
    await createApp(
      readConfiguration({
        ...environmentOf(identities['mcp-server'], redisUrl, addresses),
        HTTP_LISTEN: `127.0.0.1:${port}`,
        AUTH_SERVER_ADDRESS: `127.0.0.1:${authServer.port}`,
        MCP_URL: url,
      }),
      createLogger('mcp-server', 'info', { write: (line) => void logLines.push(line) }),
      addition && { addition },
    ),
  );
  const owned = stack.move();
  return {
    url,
    logLines,
    revoked,
    stopAuthServer: () => authServer.close(0),
    /** A connected client of the SDK, in the era of a protocol revision. */
    connect: async (token: string, era: 'modern' | 'legacy' = 'modern') => {
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
      );
      const requestInit = { headers: { Authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
      return client;
    },
    /** One message as any program sends it. */
    post: (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type McpUnderTest = Awaited<ReturnType<typeof startMcpServer>>;
