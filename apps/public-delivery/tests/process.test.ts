import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePorts } from '@longwave/fleet';
import { Redis } from 'ioredis';
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
let child: ChildProcess;
let mediaPort: number;
let healthPort: number;

const main = path.join(import.meta.dirname, '../src/main.ts');
const content = audio(200_000);

/** Starts the service as a process of its own and waits until it is ready. */
async function startProcess(): Promise<void> {
  const environment = {
    ...bench.environment,
    HTTP_LISTEN: `127.0.0.1:${mediaPort}`,
    HEALTH_LISTEN: `127.0.0.1:${healthPort}`,
  };
  child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await eventually(() =>
    fetch(`http://127.0.0.1:${healthPort}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    ),
  );
}

async function stopProcess(signal: NodeJS.Signals): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill(signal);
  return ended;
}

const open = (url: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    get(
      url,
      { agent: false, headers: { 'user-agent': 'Overcast/3.0', 'x-forwarded-for': '198.18.9.9' } },
      resolve,
    ).once('error', reject);
  });

async function play(): Promise<IncomingMessage> {
  const { rows } = await eventually(async () => {
    const found = await bench.pool.query<{ alias: string }>('select alias from alias where episode_id = $1', [
      show.episodeId,
    ]);
    return found.rowCount === 1 && found;
  });
  const redirect = await eventually(async () => {
    const answer = await open(`http://127.0.0.1:${mediaPort}/delivery/v1/e/${rows[0]!.alias}/x.mp3`);
    answer.resume();
    return answer.statusCode === 302 && answer;
  });
  return open(String(redirect.headers.location).replace('http://media.test', `http://127.0.0.1:${mediaPort}`));
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const factsOf = (response: IncomingMessage) =>
  playedFacts(bench.facts).filter((fact) => fact.request_id === response.headers['x-request-id']);

const residentKilobytes = () =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);

beforeAll(async () => {
  bench = await openBench();
  [mediaPort, healthPort] = (await freePorts(2)) as [number, number];
  show = await makeShow(bench.store, content);
  await startProcess();
  await publishEvents(bench.bus, Object.values(show.events));
}, 60_000);
afterAll(async () => {
  if (child.exitCode === null && child.signalCode === null) await stopProcess('SIGKILL');
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
  await stopProcess('SIGKILL');
  await redis.call('CLIENT', 'UNPAUSE');
  await redis.quit();
  await startProcess();
  const facts = await eventually(() => {
    const unique = [...new Map(factsOf(response).map((fact) => [fact.fact_id, fact])).values()];
    return writtenBytes(unique) === body.length && unique;
  });
  expect(facts.every((fact) => fact.status === 200)).toBe(true);
});

test('a listener who stops reading holds a few megabytes at most, and what was written is reported meanwhile', async () => {
  await readAll(await play());
  const before = residentKilobytes();
  const stalled = await Promise.all(Array.from({ length: 8 }, play));
  for (const response of stalled) response.pause();
  const reported = await eventually(() => stalled.every((response) => writtenBytes(factsOf(response)) > 100_000));
  expect(reported).toBe(true);
  for (const response of stalled) expect(writtenBytes(factsOf(response))).toBeLessThan(content.length / 4);
  expect(residentKilobytes() - before).toBeLessThan(8 * 4 * 1024);
  for (const response of stalled) response.destroy();
});

test('SIGTERM lets a running response finish and leaves an empty journal', async () => {
  const response = await play();
  response.pause();
  const stopping = stopProcess('SIGTERM');
  await eventually(() =>
    open(`http://127.0.0.1:${mediaPort}/delivery/v1/contract`).then(
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
