import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { createApp } from '../src/app.ts';
import { jobsOf, type Jobs } from './_jobs.ts';
import { createWorld, type World } from './_support.ts';

let world: World;
let jobs: Jobs;

beforeAll(async () => {
  world = await createWorld();
  jobs = jobsOf(world);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Runs an encoder whose object store is this server. */
async function withStore<T>(onRequest: RequestListener, work: (folder: string) => Promise<T>) {
  const folder = path.join(world.folder, 'work');
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using ended = new AsyncDisposableStack();
  ended.defer(() => void server.close());
  const config = { ...world.config, S3_ENDPOINT: endpoint, ENCODER_WORK_FOLDER: folder };
  ended.use(await createApp(config, createLogger('encoder', 'silent')));
  return await work(folder);
}

test('a failure of ours is not reported before the fifth try', async () => {
  const source = { storageKey: 'uploads/upl_0/x.mp3', sizeBytes: 1, etag: 'x' };
  const onlyReady: RequestListener = ({ url }, response) => {
    response.statusCode = url?.includes('/readiness') ? 404 : 500;
    response.end();
  };
  await withStore(onlyReady, async (folder) => {
    const [first, fifth, sixth] = [
      jobs.enqueueProduction(source),
      jobs.enqueueProduction(source, 4),
      jobs.enqueueProduction(source, 5),
    ];
    for (const { jobId } of [fifth, sixth]) {
      const report = await jobs.reportOf(jobId);
      expect(report.commandType).toBe('production.fail');
      expect(JSON.parse(report.changesJson).problem.code).toBe('encoder_failed');
    }
    await until(() => readdirSync(folder, { recursive: true }).length === 1);
    expect(world.management.leaseOf(first.jobId)).toBeDefined();
    expect(world.management.executed.filter((request) => request.subjectId === first.productionId)).toEqual([]);
  });
});

test('no job is taken while the object store is away, and none of its tries is used up', async () => {
  let refused = 0;
  const away: RequestListener = (request) => {
    refused += 1;
    request.socket.destroy();
  };
  const { jobId } = await withStore(away, async () => {
    const made = jobs.enqueueProduction({ storageKey: 'uploads/upl_0/y.mp3', sizeBytes: 1, etag: 'y' });
    const before = refused;
    await until(() => refused > before + 2);
    expect(world.management.leaseOf(made.jobId)).toBeUndefined();
    return made;
  });
  await using _later = await createApp(world.config, createLogger('encoder', 'silent'));
  expect((await jobs.reportOf(jobId)).commandType).toBe('production.fail');
});
