import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { openUrl, startServiceProcess, type ServiceProcess } from './_service-process.ts';
import {
  audio,
  eventually,
  makeShow,
  openBench,
  playedFacts,
  publishEvents,
  readJournal,
  sha256,
  writtenBytes,
  type Bench,
  type Show,
} from './_support.ts';

let bench: Bench;
let show: Show;
let service: ServiceProcess;

const content = audio(200_000);

async function play(): Promise<IncomingMessage> {
  const { rows } = await eventually(async () => {
    const found = await bench.pool.query<{ alias: string }>('select alias from alias where episode_id = $1', [
      show.episodeId,
    ]);
    return found.rowCount === 1 && found;
  });
  const redirect = await eventually(async () => {
    const answer = await openUrl(`${service.url}/delivery/v1/e/${rows[0]!.alias}/x.mp3`);
    answer.resume();
    return answer.statusCode === 302 && answer;
  });
  return openUrl(String(redirect.headers.location).replace('http://media.test', service.url));
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const factsOf = (response: IncomingMessage) =>
  playedFacts(bench.facts).filter((fact) => fact.request_id === response.headers['x-request-id']);

beforeAll(async () => {
  bench = await openBench();
  show = await makeShow(bench.store, content);
  service = await startServiceProcess(bench);
  await publishEvents(bench.bus, Object.values(show.events));
}, 60_000);
afterAll(async () => {
  await service.stop('SIGKILL');
  await bench.stop();
}, 30_000);

test('after kill -9 while the bus does not answer, every fact is published by the next process', async () => {
  const redis = new Redis(bench.environment['REDIS_URL']!);
  const response = await play();
  await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  const body = await readAll(response);
  expect(sha256(body.subarray(-content.length))).toBe(sha256(content));
  const id = String(response.headers['x-request-id']);
  const inJournal = await eventually(async () => {
    const facts = (await readJournal(bench.folder))
      .split('\n')
      .filter((line) => line.includes(id))
      .map((line) => JSON.parse(line) as { written: [number, number][] });
    return (
      facts.flatMap((fact) => fact.written).reduce((sum, [from, to]) => sum + to - from, 0) === body.length && facts
    );
  });
  expect(inJournal.length).toBeGreaterThan(1);
  await service.stop('SIGKILL');
  await redis.call('CLIENT', 'UNPAUSE');
  await redis.quit();
  service = await startServiceProcess(bench);
  const facts = await eventually(() => {
    const unique = [...new Map(factsOf(response).map((fact) => [fact.fact_id, fact])).values()];
    return writtenBytes(unique) === body.length && unique;
  });
  expect(facts.every((fact) => fact.status === 200)).toBe(true);
});

test('what was written to a listener who stops reading is reported meanwhile, and no more is written than the sockets take', async () => {
  const stalled = await Promise.all(Array.from({ length: 8 }, play));
  for (const response of stalled) response.pause();
  const reported = await eventually(() => stalled.every((response) => writtenBytes(factsOf(response)) > 100_000));
  expect(reported).toBe(true);
  for (const response of stalled) expect(writtenBytes(factsOf(response))).toBeLessThan(content.length / 4);
  for (const response of stalled) response.destroy();
});

test('SIGTERM lets a running response finish and leaves an empty journal', async () => {
  const response = await play();
  response.pause();
  const stopping = service.stop('SIGTERM');
  await eventually(() =>
    openUrl(`${service.url}/delivery/v1/contract`).then(
      (answer) => answer.resume() && false,
      () => true,
    ),
  );
  const body = await readAll(response);
  expect(await stopping).toBe(0);
  expect(sha256(body.subarray(-content.length))).toBe(sha256(content));
  await eventually(() => writtenBytes(factsOf(response)) === body.length);
  expect(await readJournal(bench.folder)).toBe('');
});
