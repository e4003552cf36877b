import { expect, test } from '@jest/globals';
import type { PlayHour, ReadPlayHoursRequest, ReadSampleRequest } from '@longwave/rpc/serving';
import { createReadPast, type SampleClient } from './read-past.ts';

const hourMs = 3_600_000;
const midnightMs = Date.UTC(2026, 9, 5);

/** A sample that has one play an hour until a time. */
function createSample(maxSize?: number) {
  const told = { sampledUntilMs: midnightMs, requests: 0, listener: '' };
  const hoursIn = ({ fromMs, toMs }: ReadPlayHoursRequest | ReadSampleRequest) => {
    told.requests++;
    const hours: number[] = [];
    for (let at = midnightMs - 48 * hourMs; at < told.sampledUntilMs; at += hourMs)
      if (at >= Number(fromMs) && at < Number(toMs)) hours.push(at);
    return hours;
  };
  const client = {
    async *readPlayHours(request: ReadPlayHoursRequest) {
      yield { hours: hoursIn(request).map((at) => ({ hourMs: BigInt(at), opportunities: 1n }) as PlayHour) };
    },
    async *readSample(request: ReadSampleRequest) {
      const plays = hoursIn(request).map((at) => ({
        ...{ atMs: BigInt(at), publishedAtMs: 0n, adLoadLimitMs: 0n, layout: 0, weight: 1 },
        listener: Buffer.from(told.listener, 'hex'),
      }));
      yield { layouts: [{ breaks: [] }], plays };
    },
  };
  return { told, read: createReadPast(client as unknown as SampleClient, maxSize) };
}

test('hours that are sampled hours late are read once they are there, each once', async () => {
  const { told, read } = createSample();
  const readAt = async (hour: number) => {
    const { plays, hours } = await read('ws_1', midnightMs + hour * hourMs, 1_000);
    expect(plays.map(({ atMs }) => atMs)).toEqual(hours.map(({ hourMs: at }) => Number(at)));
    return plays.length;
  };
  expect(await readAt(0)).toBe(48);
  // The sampling has stood still for five hours, then comes after.
  expect(await readAt(5)).toBe(48);
  told.sampledUntilMs = midnightMs + 3 * hourMs;
  expect(await readAt(5)).toBe(51);
  told.sampledUntilMs = midnightMs + 6 * hourMs;
  expect(await readAt(6)).toBe(54);
  const { requests } = told;
  expect(await readAt(6)).toBe(54);
  expect(told.requests).toBe(requests);
});

test('a code that is blank in the sample is gone from memory within a day', async () => {
  const { told, read } = createSample();
  const codesAt = async (hour: number) => {
    const { plays } = await read('ws_1', midnightMs + hour * hourMs, 1_000);
    return [...new Set(plays.map(({ listener }) => listener))];
  };
  told.listener = 'abcdef';
  expect(await codesAt(0)).toEqual(['abcdef']);
  told.listener = '';
  expect(await codesAt(23)).toEqual(['abcdef']);
  expect(await codesAt(24)).toEqual(['']);
});

test('what is read before somebody asks is read once, and kept as long as nobody else needs the room', async () => {
  const { told, read } = createSample(80);
  expect(await read.ahead('ws_1', midnightMs, 1_000)).toBe(true);
  const { requests } = told;
  await read('ws_1', midnightMs, 1_000);
  expect(told.requests).toBe(requests);
  // 48 plays, and a fourth for as many hours: a second workspace has no room.
  expect(await read.ahead('ws_2', midnightMs, 1_000)).toBe(false);
  expect(await read.ahead('ws_1', midnightMs, 1_000)).toBe(true);
  await read('ws_2', midnightMs, 1_000);
  expect(await read.ahead('ws_1', midnightMs, 1_000)).toBe(false);
});
