import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RpcContext } from '../src/index.ts';
import { connect, identities, say, serveProbe, ways } from './_support.ts';

const request = { storageKey: 'uploads/upl_1/a.mp3' };
let seen: RpcContext[];
let server: Awaited<ReturnType<typeof serveProbe>>;
let caller: ReturnType<typeof connect>;

describe.each(ways)('%s', (way) => {
  beforeEach(async () => {
    seen = [];
    server = await serveProbe(async (_request, context) => {
      seen.push(context);
      return say('here');
    });
    caller = connect(server.port, identities.management, way);
    await caller.streaming();
  });
  afterEach(async () => {
    caller.close();
    await server.close(0);
  });

  test('a call whose signal is already aborted is refused and never sent', async () => {
    await expect(caller.probe(request, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      context: { retryAfterSeconds: 1 },
    });
    await caller.probe(request, {});
    expect(seen).toHaveLength(1);
  });

  test.each<[string, { readonly inSeconds?: number; readonly deadlineMs?: number }, number]>([
    ['nothing', {}, 10],
    ['a length', { deadlineMs: 20_000 }, 20],
    ['a point in time', { inSeconds: 20 }, 20],
    ['both', { inSeconds: 20, deadlineMs: 5_000 }, 5],
  ])(
    'told %s, the other side knows when the caller stops waiting',
    async (_told, { inSeconds, ...options }, seconds) => {
      const sentAt = Date.now();
      await caller.probe(request, { ...options, ...(inSeconds && { deadline: new Date(sentAt + inSeconds * 1000) }) });
      expect(Math.round((seen[0]!.deadline.getTime() - sentAt) / 1000)).toBe(seconds);
    },
  );
});
