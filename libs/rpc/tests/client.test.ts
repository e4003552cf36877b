import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { developmentCa } from '@longwave/fleet';
import { CredentialServiceService } from '../src/generated/longwave/credential/v1/credential.ts';
import { openChannel, readTls, rpcService, serveRpc, type RpcClient, type RpcContext } from '../src/index.ts';

let client: RpcClient<typeof CredentialServiceService>;
const stack = new AsyncDisposableStack();
const seen: RpcContext[] = [];

beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rpc-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const identities = await developmentCa(folder, ['auth-server', 'rest-gateway'] as const, new Date());
  const server = await serveRpc({
    listen: '127.0.0.1:0',
    tls: readTls(identities['auth-server']),
    services: [
      rpcService(
        CredentialServiceService,
        { verify: ['rest-gateway'] },
        {
          verify: async (_request, context) => {
            seen.push(context);
            return { outcome: undefined };
          },
        },
      ),
    ],
    onError: () => undefined,
  });
  stack.defer(() => server.close(0));
  const channel = openChannel(`127.0.0.1:${server.port}`, 'auth-server', readTls(identities['rest-gateway']));
  stack.defer(() => channel.close());
  client = channel.client(CredentialServiceService);
});
afterAll(() => stack.disposeAsync());

const ask = (options: Parameters<typeof client.verify>[1]) => client.verify({ credential: 'x' }, options);

test('a call whose signal is already aborted is refused and never sent', async () => {
  await expect(ask({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
    context: { retryAfterSeconds: 1 },
  });
  await ask({});
  expect(seen).toHaveLength(1);
});

test.each([
  ['nothing said', {}, 10],
  ['a length', { deadlineMs: 20_000 }, 20],
  ['a point in time', { deadline: 20 }, 20],
  ['the earlier of both', { deadline: 20, deadlineMs: 5_000 }, 5],
])('with %s, the other side knows when the caller stops waiting', async (_what, { deadline, ...options }, seconds) => {
  const sentAt = Date.now();
  await ask({ ...options, ...(deadline && { deadline: new Date(sentAt + deadline * 1000) }) });
  const leftMs = seen.at(-1)!.deadline.getTime() - sentAt;
  expect(Math.round(leftMs / 1000)).toBe(seconds);
});
