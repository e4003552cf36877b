import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { listenHttp } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import express, { type Response } from 'express';
import { createChangeSignals } from '../src/http/change-signals.ts';
import { createEventStreams, type EventWriter } from '../src/http/event-streams.ts';
import { pollChanges } from '../src/http/poll-changes.ts';
import { startTestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

const holder = { clientId: 'cli_1', workspaceId: 'ws_1' };

test('a client that has gone before its stream begins holds no place', async () => {
  await using streams = createEventStreams({ maxPerClient: 1 });
  const app = express();
  const arrived = new Promise<Response>((resolve) => void app.get('/', (_request, response) => resolve(response)));
  await using listener = await closing(app);
  const socket = connect(listener.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: api.test\r\n\r\n');
  const response = await arrived;
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  let begun = 0;
  const work = { check: async () => undefined, write: async () => void (begun += 1) };
  await streams.open(holder, work).stream(response);
  await streams.open(holder, work).stream(response);
  expect(begun).toBe(0);
});

async function closing(app: express.Express) {
  const listener = await listenHttp('127.0.0.1:0', app);
  return { port: listener.port, [Symbol.asyncDispose]: () => listener.close() };
}

/** A client that opens a stream and takes nothing of it. */
async function takingNothing(work: (response: Response) => Promise<void>) {
  const app = express();
  const ended = Promise.withResolvers<void>();
  app.get('/', (_request, response) => work(response).then(ended.resolve, ended.reject));
  const listener = await closing(app);
  const socket = connect(listener.port, '127.0.0.1').pause();
  socket.write('GET / HTTP/1.1\r\nHost: api.test\r\n\r\n');
  return {
    ended: ended.promise,
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      await listener[Symbol.asyncDispose]();
    },
  };
}

test('the credential is checked again also while the client takes nothing, and then nothing more is sent', async () => {
  await using streams = createEventStreams({ checkEveryMs: 20 });
  let isGood = true;
  let sent = 0;
  const { stream } = streams.open(holder, {
    check: async () => {
      if (!isGood) throw new Problem('token_invalid', 'The token is not valid here.');
    },
    write: async ({ signal, send }) => {
      for (; !signal.aborted; sent++) await send({ event: 'revision', data: 'x'.repeat(1_000_000) });
    },
  });
  await using client = await takingNothing(stream);
  // The client's buffers are full.
  await until(async () => {
    const before = sent;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return before > 0 && before === sent;
  });
  isGood = false;
  const sentBefore = sent;
  // Nothing but the check ends it.
  await client.ended;
  expect(sent).toBeLessThanOrEqual(sentBefore + 1);
});

test('few streams read at a time, and one that ends while it waits for its turn leaves the queue', async () => {
  const streams = createEventStreams({ maxReads: 2, maxPerClient: 10 });
  const gate = Promise.withResolvers<void>();
  let reading = 0;
  const work = {
    check: async () => undefined,
    write: async ({ read }: EventWriter) =>
      read(async () => {
        reading += 1;
        await gate.promise;
      }),
  };
  await using _one = await takingNothing(streams.open(holder, work).stream);
  await using _two = await takingNothing(streams.open(holder, work).stream);
  await until(() => reading === 2);
  await using waiting = await takingNothing(streams.open(holder, work).stream);
  const stopped = streams[Symbol.asyncDispose]();
  await waiting.ended;
  expect(reading).toBe(2);
  gate.resolve();
  await stopped;
});

test('a workspace has so many streams open at most, whoever opens them', async () => {
  await using streams = createEventStreams({ maxPerWorkspace: 2 });
  const work = { check: async () => undefined, write: async () => undefined };
  const open = (clientId: string, workspaceId: string) => streams.open({ clientId, workspaceId }, work);
  open('cli_1', 'ws_1');
  open('cli_2', 'ws_1');
  expect(() => open('cli_3', 'ws_1')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  // Its place with the client is free again.
  open('cli_3', 'ws_2');
});

test('watched workspaces that have changed wake all of their streams, and no others, though no signal came', async () => {
  await using management = await startTestManagement();
  const signals = createChangeSignals();
  const [one, two] = [createWorld(management), createWorld(management)];
  await using _poll = pollChanges({ pool: management.pool, signals, everyMs: 20, onError: () => undefined });
  const ending = new AbortController();
  using first = signals.watch(one.workspaceId, ending.signal);
  using second = signals.watch(two.workspaceId, ending.signal);
  using again = signals.watch(two.workspaceId, ending.signal);
  await one.advertiser();
  expect(await first.next(60_000)).toBe(true);
  await two.advertiser();
  expect(await Promise.all([second.next(60_000), again.next(60_000)])).toEqual([true, true]);
  expect(await first.next(100)).toBe(false);
});
