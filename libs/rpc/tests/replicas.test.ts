import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { startRelay } from './_relay.ts';
import {
  connect,
  identities,
  cleanups,
  say,
  serveProbe,
  startProbeServer,
  ways,
  type Lifetimes,
  type Way,
} from './_support.ts';

type Caller = ReturnType<typeof connect>;

/** A replica that counts its calls; `name` is its answer. */
async function startReplica(name: string, listen?: string, lifetimes?: Lifetimes) {
  const replica = { calls: 0 };
  const server = await serveProbe(
    async () => {
      replica.calls++;
      await pause(1);
      return say(name);
    },
    listen,
    lifetimes,
  );
  cleanups.push(() => server.close(0));
  return Object.assign(replica, { port: server.port, close: server.close });
}

function callerOf(at: string, way: Way, lookup?: (name: string) => Promise<readonly string[]>): Caller {
  const caller = connect(at, identities.management, way, lookup);
  cleanups.push(caller.close);
  return caller;
}

const addressOf = (...ports: readonly number[]) => ports.map((port) => `127.0.0.1:${port}`).join(',');

const ask = async ({ probe }: Caller, deadlineMs = 5_000): Promise<string> => {
  const { outcome } = await probe({ storageKey: '' }, { deadlineMs });
  return outcome?.$case === 'unreadable' ? outcome.value.detail : '';
};

const lanes = 4;

/** Calls without a pause, four at a time, until `stop`; answers how many were answered, and when those failed that did. */
function keepAsking(caller: Caller, deadlineMs?: number) {
  let isOver = false;
  let answered = 0;
  const failedMs: number[] = [];
  const asking = Array.from({ length: lanes }, async () => {
    while (!isOver)
      await ask(caller, deadlineMs).then(
        () => answered++,
        async () => {
          failedMs.push(performance.now());
          await pause(1);
        },
      );
  });
  const stop = async () => {
    isOver = true;
    await Promise.all(asking);
    return { answered, failures: failedMs.length };
  };
  cleanups.push(stop);
  return { failedMs, stop };
}

describe.each(ways)('%s', (way) => {
  test('calls are spread evenly over all replicas, one after the other and at once', async () => {
    const replicas = [await startReplica('a'), await startReplica('b'), await startReplica('c')];
    const caller = callerOf(addressOf(...replicas.map(({ port }) => port)), way);
    await until(async () => {
      await ask(caller);
      return replicas.every(({ calls }) => calls > 0);
    });
    await caller.streaming();
    const spread = async (send: () => Promise<unknown>) => {
      for (const replica of replicas) replica.calls = 0;
      await send();
      return replicas.map(({ calls }) => calls);
    };
    const oneByOne = await spread(async () => {
      for (let nth = 0; nth < 30; nth++) await ask(caller);
    });
    expect(oneByOne).toEqual([10, 10, 10]);
    const atOnce = await spread(() => Promise.all(Array.from({ length: 90 }, () => ask(caller))));
    expect(atOnce).toEqual([30, 30, 30]);
  });

  test('a replica that is not there costs no call', async () => {
    const gone = await startReplica('gone');
    await gone.close();
    const there = await startReplica('there');
    const caller = callerOf(addressOf(gone.port, there.port), way);
    for (let nth = 0; nth < 20; nth++) expect(await ask(caller)).toBe('there');
  });

  test('a replica that drains loses no call and gets no further one, and its successor gets calls within 3 s', async () => {
    const [first, second] = [await startReplica('first'), await startReplica('second')];
    const caller = callerOf(addressOf(first.port, second.port), way);
    const asking = keepAsking(caller);
    await until(() => first.calls > 50 && second.calls > 50);
    await first.close();
    const { calls } = first;
    const until50More = second.calls + 50;
    await until(() => second.calls > until50More);
    expect(first.calls).toBe(calls);
    const successor = await startReplica('successor', `127.0.0.1:${first.port}`);
    await until(() => successor.calls > 10, { timeoutMs: 3_000 });
    expect((await asking.stop()).failures).toBe(0);
  });

  test('of a replica that is killed only the calls fail that it had, and the others are asked at once', async () => {
    const [killed, other] = [await startProbeServer(), await startReplica('other')];
    cleanups.push(killed.kill);
    const asking = keepAsking(callerOf(addressOf(killed.port, other.port), way));
    await until(() => killed.handled().length > 50 && other.calls > 50);
    await killed.kill();
    const killedMs = performance.now();
    const until200More = other.calls + 200;
    await until(() => other.calls > until200More);
    const { failures } = await asking.stop();
    expect(failures).toBeLessThanOrEqual(lanes);
    for (const atMs of asking.failedMs) expect(atMs - killedMs).toBeLessThan(1_000);
  });

  test('a replica from which nothing is heard gets no call from a second later on', async () => {
    const [lost, other] = [await startReplica('lost'), await startReplica('other')];
    const relay = await startRelay(lost.port);
    cleanups.push(relay.close);
    // Longer than the guarantee: calls that it had fail, and a call that it got later would fail too.
    const deadlineMs = 1_000;
    const asking = keepAsking(callerOf(addressOf(relay.port, other.port), way), deadlineMs);
    await until(() => lost.calls > 50 && other.calls > 50);
    relay.stall();
    await pause(2 * deadlineMs + 500);
    const { failures } = await asking.stop();
    expect(failures).toBeGreaterThan(0);
    expect(failures).toBeLessThanOrEqual(lanes);
  });

  test('connections end when they are old, are made again, and no call is lost by it', async () => {
    const server = await startReplica('aging', '127.0.0.1:0', { maxConnectionAgeMs: 300 });
    const relay = await startRelay(server.port);
    cleanups.push(relay.close);
    const asking = keepAsking(callerOf(addressOf(relay.port), way));
    await until(() => relay.connections() > 3);
    const { answered, failures } = await asking.stop();
    expect(failures).toBe(0);
    expect(answered).toBeGreaterThan(50);
  });
});

test('a name stands for all its addresses: a new one gets calls within 6 s, one that is gone gets none, and none is lost', async () => {
  const first = await startReplica('first', '127.0.0.1:0');
  const second = await startReplica('second', `127.0.0.2:${first.port}`);
  let addresses: readonly string[] | Error = ['127.0.0.1'];
  let failedLookups = 0;
  const lookup = async (name: string) => {
    expect(name).toBe('encoder.internal');
    if (!(addresses instanceof Error)) return addresses;
    failedLookups++;
    throw addresses;
  };
  const caller = callerOf(`encoder.internal:${first.port}`, 'calls on the stream', lookup);
  const asking = keepAsking(caller);
  await until(() => first.calls > 20);
  expect(second.calls).toBe(0);
  addresses = ['127.0.0.2'];
  await until(() => second.calls > 20, { timeoutMs: 6_000 });
  const { calls: callsOfFirst } = first;
  addresses = new Error('no resolver answers');
  await until(() => failedLookups > 0);
  const { calls } = second;
  await until(() => second.calls > calls + 20);
  expect(first.calls).toBe(callsOfFirst);
  expect((await asking.stop()).failures).toBe(0);
});

test('a name without an address fails at once as an outage, and is asked for again a second later', async () => {
  const server = await startReplica('there');
  let lookups = 0;
  const caller = callerOf(`encoder.internal:${server.port}`, 'calls by themselves', async () => {
    if (++lookups === 1) throw new Error('not found');
    return ['127.0.0.1'];
  });
  await expect(ask(caller)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await expect(ask(caller)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(lookups).toBe(1);
  expect(await until(() => ask(caller), { despiteErrors: true })).toBe('there');
  expect(lookups).toBe(2);
});
