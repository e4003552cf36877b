import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256, until } from '@longwave/test-kit';
import { Redis } from 'ioredis';
import { askAt } from './_ask.ts';
import { serveOnce, tokensOf } from './_serving.ts';
import { openUrl, startServiceProcess, type ServiceProcess } from './_service-process.ts';
import {
  audio,
  eventFacts,
  makeShow,
  openBench,
  playedFacts,
  publishEvents,
  readJournal,
  writtenBytes,
  type Bench,
  type Show,
} from './_support.ts';

let bench: Bench;
let show: Show;
let service: ServiceProcess;

const content = audio(200_000);

async function enclosureOf(): Promise<string> {
  const { rows } = await until(async () => {
    const found = await bench.pool.query<{ alias: string }>('select alias from alias where episode_id = $1', [
      show.episodeId,
    ]);
    return found.rowCount === 1 && found;
  });
  return `/delivery/v1/e/${rows[0]!.alias}/x.mp3`;
}

async function play(): Promise<IncomingMessage> {
  const enclosure = await enclosureOf();
  const redirect = await until(async () => {
    const answer = await openUrl(`${service.url}${enclosure}`);
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
});
afterAll(async () => {
  await service.stop('SIGKILL');
  await bench.stop();
});

test('after kill -9 while the bus does not answer, every fact is published by the next process', async () => {
  const redis = new Redis(bench.environment['REDIS_URL']!);
  const response = await play();
  await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  const body = await readAll(response);
  expect(sha256(body.subarray(-content.length))).toBe(sha256(content));
  const id = String(response.headers['x-request-id']);
  const inJournal = await until(async () => {
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
  const facts = await until(() => {
    const unique = [...new Map(factsOf(response).map((fact) => [fact.fact_id, fact])).values()];
    return writtenBytes(unique) === body.length && unique;
  });
  expect(facts.every((fact) => fact.status === 200)).toBe(true);
});

test('kill -9 right after they were acknowledged loses no delivery event', async () => {
  const ask = askAt(() => Number(new URL(service.url).port));
  // Long enough for 200 reports of its progress.
  const ad = audio(500);
  await bench.store.put(`media/${sha256(ad)}`, ad, { contentType: 'audio/mpeg' });
  const served = await serveOnce(bench, ask, await enclosureOf(), ad);
  const token = tokensOf(bench).mint('evt', served, served.startedAt);
  const redis = new Redis(bench.environment['REDIS_URL']!);
  await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  const acknowledged: number[] = [];
  const asking = Array.from({ length: 200 }, async (_, sequence) => {
    const { status } = await ask(`/delivery/v1/ev/${token}?e=progress&n=${sequence}`, served.listener);
    expect(status).toBe(204);
    acknowledged.push(sequence);
    // In the middle of the others.
    if (acknowledged.length === 100) await service.stop('SIGKILL');
  });
  await Promise.allSettled(asking);
  expect(acknowledged.length).toBeGreaterThanOrEqual(100);
  await redis.call('CLIENT', 'UNPAUSE');
  await redis.quit();
  service = await startServiceProcess(bench);
  await until(() => {
    const kept = new Set(eventFacts(bench.facts).map((fact) => fact.sequence));
    return acknowledged.every((sequence) => kept.has(sequence));
  });
});

test('bytes written to a listener who stops reading are reported meanwhile, and no more is written than the sockets take', async () => {
  const stalled = await Promise.all(Array.from({ length: 8 }, play));
  for (const response of stalled) response.pause();
  const reported = await until(() => stalled.every((response) => writtenBytes(factsOf(response)) > 100_000));
  expect(reported).toBe(true);
  for (const response of stalled) expect(writtenBytes(factsOf(response))).toBeLessThan(content.length / 4);
  for (const response of stalled) response.destroy();
});

test('SIGTERM lets a running response finish and leaves an empty journal', async () => {
  const response = await play();
  response.pause();
  const stopping = service.stop('SIGTERM');
  await until(() =>
    openUrl(`${service.url}/delivery/v1/contract`).then(
      (answer) => answer.resume() && false,
      () => true,
    ),
  );
  const body = await readAll(response);
  expect(await stopping).toBe(0);
  expect(sha256(body.subarray(-content.length))).toBe(sha256(content));
  await until(() => writtenBytes(factsOf(response)) === body.length);
  expect(await readJournal(bench.folder)).toBe('');
});
