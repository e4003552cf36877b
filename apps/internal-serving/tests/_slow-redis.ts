/**
 * A program: decides plays at a process whose Redis is 5 ms away, in turn with one whose Redis is near, and prints the times of 99 of 100 as JSON
 * (`npm run bench -- "Redis far away"`).
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import { startServingProcess, type ServingProcess } from './_serving-processes.ts';
import { guaranteed, playOf, startEngines } from './_support.ts';

const delayMs = 5;
const [plays, atOnce, rounds] = [1_000, 4, 5];

await using stack = new AsyncDisposableStack();
const engines = stack.use(await startEngines());
const redis = new URL(engines.redis().url);
/** Passes what is asked on at once, and each answer 5 ms later. */
const proxy = createServer({ noDelay: true }, (client) => {
  const server = connect({ host: redis.hostname, port: Number(redis.port), noDelay: true });
  client.pipe(server);
  server.on('data', (bytes: Buffer) => void setTimeout(() => client.write(bytes), delayMs));
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.destroy());
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
stack.defer(() => void proxy.close());
const farUrl = Object.assign(new URL(redis), { hostname: '127.0.0.1', port: (proxy.address() as AddressInfo).port });

const near = await startServingProcess(engines);
stack.defer(() => near.stop());
const far = await startServingProcess({
  ...engines,
  environment: () => ({ ...engines.environment(), REDIS_URL: farUrl.href }),
});
stack.defer(() => far.stop());

const [withGoals, withCaps] = [newId('ws'), newId('ws')];
const cap = { max: 1_000, per: 'listener_bucket' as const, window_seconds: 86_400 };
await engines.publishPlan(withGoals, [guaranteed(100_000_000)]);
await engines.publishPlan(withCaps, [{ ...guaranteed(100_000_000), frequency_caps: [cap] }]);

const decide = ({ client }: ServingProcess, workspaceId: string) =>
  client.decide(playOf(workspaceId, { listenerBucket: randomBytes(16) }), { deadlineMs: 5_000 });

interface Times {
  readonly p99: number;
  readonly p50: number;
}

/** The time of 99 of 100 plays, and of the middle one. */
async function timesOf(process: ServingProcess, workspaceId: string): Promise<Times> {
  const times: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next++ < plays) {
        const began = performance.now();
        const { picks } = await decide(process, workspaceId);
        times.push(performance.now() - began);
        if (picks.length === 0) throw new Error('a play found no ad');
      }
    }),
  );
  times.sort((a, b) => a - b);
  return { p99: times[Math.floor(0.99 * times.length)]!, p50: times[times.length >> 1]! };
}

const results: Record<string, { readonly near: readonly Times[]; readonly far: readonly Times[] }> = {};
for (const [name, workspaceId] of Object.entries({ goals: withGoals, caps: withCaps })) {
  const [timesNear, timesFar] = [[], []] as [Times[], Times[]];
  for (const process of [near, far]) {
    await until(async () => (await decide(process, workspaceId).catch(() => undefined))?.picks.length === 1);
    await timesOf(process, workspaceId);
  }
  for (let round = 0; round < rounds; round++) {
    timesNear.push(await timesOf(near, workspaceId));
    timesFar.push(await timesOf(far, workspaceId));
  }
  results[name] = { near: timesNear, far: timesFar };
}
console.log(JSON.stringify(results));
