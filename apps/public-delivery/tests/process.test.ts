import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256, until } from '@longwave/test-kit';
import hls from 'hls-parser';
import { Redis } from 'ioredis';
import { askAt, newListener, type Ask } from './_ask.ts';
import { decideAds, publishHlsShow, storeTone } from './_hls.ts';
import { serveOnce, tokensOf } from './_serving.ts';
import { storeSegment } from './_stitched.ts';
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

/** A listener's play by HLS. */
async function openHlsPlay(ask: Ask, entry: string, listener: Record<string, string>) {
  const media = String((await ask(entry, listener)).headers.location).replace('main.m3u8', 'a192/media.m3u8');
  const text = (await ask(media, listener)).body.toString();
  const readList = () => ask(/X-ASSET-LIST="([^"]+)"/.exec(text)![1]!, listener);
  return { media, readList, segments: (hls.parse(text) as hls.types.MediaPlaylist).segments };
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

test('kill -9 in the middle of a list of HLS: received segments are told once, lists stay the same, and the decision is asked for again', async () => {
  const ask = askAt(() => Number(new URL(service.url).port));
  const ads = [{ mp3: audio(125), tone: await storeTone(bench, 3, 660) }];
  await storeSegment(bench, ads[0]!.mp3);
  const { entry, episodeId } = await publishHlsShow(bench, ask, await storeTone(bench, 20, 440), []);
  const listener = newListener();
  const [play, other] = [await openHlsPlay(ask, entry, listener), await openHlsPlay(ask, entry, newListener())];
  bench.serving.answer = async (request) => decideAds(request, ads);
  const listed = await play.readList();
  const redis = new Redis(bench.environment['REDIS_URL']!);
  await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
  const received: [number, number][] = [];
  for (const { uri, byterange } of play.segments) {
    const [from, to] = [byterange.offset, byterange.offset + byterange.length];
    const track = new URL(uri, play.media).pathname;
    expect((await ask(track, { ...listener, range: `bytes=${from}-${to - 1}` })).status).toBe(206);
    received.push([from, to]);
  }
  bench.serving.requests.length = 0;
  bench.serving.answer = () => new Promise(() => undefined);
  const [unanswered] = await Promise.allSettled([
    other.readList(),
    until('the decision', () => bench.serving.requests.length === 1).then(() => service.stop('SIGKILL')),
  ]);
  expect(unanswered.status).toBe('rejected');
  await redis.call('CLIENT', 'UNPAUSE');
  await redis.quit();

  bench.serving.answer = async (request) => decideAds(request, ads);
  service = await startServiceProcess(bench);
  expect((await play.readList()).body.equals(listed.body)).toBe(true);
  const decided = await other.readList();
  expect((JSON.parse(decided.body.toString()) as { ASSETS: unknown[] }).ASSETS).toHaveLength(1);
  expect((await other.readList()).body.equals(decided.body)).toBe(true);
  const [first, again, ...more] = bench.serving.requests.map(({ decisionId }) => decisionId);
  expect([again, more]).toEqual([first, []]);
  const told = () => {
    const written = bench.facts.flatMap((fact) =>
      fact.kind === 'media_range_served' && fact.episode_id === episodeId
        ? [[fact.fact_id, fact.written] as const]
        : [],
    );
    return [...new Map(written).values()].flat().toSorted(([a], [b]) => a - b);
  };
  await until('the facts of the segments', told, { holds: (written) => written.length >= received.length });
  expect(told()).toEqual(received);
});

test('kill -9 in the middle of a range of HLS: the player gets the rest of it at its next try, and the ads of the play stay', async () => {
  const ask = askAt(() => Number(new URL(service.url).port));
  const ads = [{ mp3: audio(125), tone: await storeTone(bench, 3, 660) }];
  await storeSegment(bench, ads[0]!.mp3);
  // More than the sockets between them hold.
  const long = await storeTone(bench, 400, 440, [], 20);
  const { entry } = await publishHlsShow(bench, ask, long, []);
  const listener = newListener();
  const play = await openHlsPlay(ask, entry, listener);
  bench.serving.answer = async (request) => decideAds(request, ads);
  const listed = (await play.readList()).body;
  bench.serving.requests.length = 0;

  const [{ uri, byterange }] = play.segments as [hls.types.Segment];
  const track = new URL(uri, play.media).pathname;
  const range = await openUrl(service.url + track, { ...listener, range: `bytes=${byterange.offset}-` });
  expect(range.statusCode).toBe(206);
  const chunks: Buffer[] = [];
  range.on('data', (chunk: Buffer) => chunks.push(chunk));
  const broken = new Promise((resolve) => range.once('close', resolve));
  await once(range, 'data');
  range.pause();
  await service.stop('SIGKILL');
  range.resume();
  await broken;
  const received = Buffer.concat(chunks);
  const at = byterange.offset + received.length;
  expect(at).toBeLessThan(long.bytes.length);

  service = await startServiceProcess(bench);
  const again = { ...listener, range: `bytes=${at}-`, 'if-range': String(range.headers.etag) };
  const rest = await ask(track, again);
  expect([rest.status, rest.headers['content-range']]).toEqual([
    206,
    `bytes ${at}-${long.bytes.length - 1}/${long.bytes.length}`,
  ]);
  expect(Buffer.concat([received, rest.body]).equals(long.bytes.subarray(byterange.offset))).toBe(true);
  expect((await play.readList()).body.equals(listed)).toBe(true);
  const [asset, ...more] = (JSON.parse(listed.toString()) as { ASSETS: { URI: string }[] }).ASSETS;
  expect([(await ask(asset!.URI, listener)).status, more]).toEqual([200, []]);
  expect(bench.serving.requests).toEqual([]);
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
