import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestRedis, type TestRedis } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import {
  belongsToSaved,
  createRedisBus,
  loadStreams,
  notePlaces,
  saveStreams,
  type BusMessage,
  type DeliveredMessage,
  type SavedLine,
} from '../src/index.ts';

let [first, second]: TestRedis[] = [];
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  [first, second] = await Promise.all([startTestRedis(), startTestRedis()]);
  for (const server of [first, second]) stack.use(server);
});
afterAll(() => stack.disposeAsync());

const topic = 'saved';
const busOn = (server: TestRedis | undefined) =>
  createRedisBus({ redisUrl: server!.url, clientName: 'test', partitions: 2, leaseMs: 500 });
const numbered = (from: number, to: number): BusMessage[] =>
  Array.from({ length: to - from }, (_, at) => ({
    topic,
    key: `key-${(from + at) % 5}`,
    id: `message-${from + at}`,
    type: 'thing.happened',
    payload: { number: from + at },
  }));
const idsOf = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id).sort();

async function* each(lines: readonly SavedLine[]) {
  for (const line of lines) yield line;
}

test('in another Redis each group goes on where it was: what it had not finished comes, what it had finished does not, dead letters stay', async () => {
  await using bus = busOn(first);
  const done: DeliveredMessage[] = [];
  const before = numbered(0, 40);
  {
    await using _finishing = await bus.subscribe({
      topic,
      group: 'finishing',
      handle: async (all) => void done.push(...all),
    });
    await using _failing = await bus.subscribe({
      topic,
      group: 'failing',
      retry: { attempts: 1, initialDelayMs: 1, maxDelayMs: 1 },
      handle: async () => {
        throw new Error('it never works');
      },
    });
    await bus.publish(before);
    await until(() => done.length === before.length);
    await until(async () => (await bus.listDeadLetters(topic, 'failing')).length === before.length);
  }
  // Both are away now.
  const unfinished = numbered(40, 60);
  await bus.publish(unfinished);
  const noted = await notePlaces(first!.url, [topic]);
  await until(async () => (await notePlaces(first!.url, [topic])).atMs > Math.ceil(noted.atMs));
  const later = numbered(60, 70);
  await bus.publish(later);
  const lines: SavedLine[] = [];
  for await (const line of saveStreams(first!.url, [topic, 'never-used'], noted, () => noted.atMs)) lines.push(line);

  expect(await loadStreams(second!.url, each(lines))).toBe(before.length + unfinished.length + before.length);
  await using restored = busOn(second);
  const again: DeliveredMessage[] = [];
  await using _again = await restored.subscribe({
    topic,
    group: 'finishing',
    handle: async (all) => void again.push(...all),
  });
  const afterwards = numbered(70, 80);
  await restored.publish(afterwards);
  await until(() => again.length >= unfinished.length + afterwards.length);
  expect(idsOf(again)).toEqual(idsOf([...unfinished, ...afterwards]));
  const letters = await restored.listDeadLetters(topic, 'failing');
  expect(idsOf(letters.map(({ message }) => message))).toEqual(idsOf(before));
});

test('an archived object belongs to saved streams when they end behind it, and every other object does', () => {
  const belongs = belongsToSaved([{ kind: 'value', key: 'bus:saved:archived:0', value: '1700000000000-5' }]);
  const archived = (partition: number, last: string) =>
    `bus/saved/${partition}/${last}_0000000000000001-00000000000000000000.json.gz`;
  expect(belongs(archived(0, '0001700000000000-00000000000000000005'))).toBe(true);
  expect(belongs(archived(0, '0001700000000000-00000000000000000006'))).toBe(false);
  expect(belongs(archived(1, '0001600000000000-00000000000000000000'))).toBe(false);
  expect(belongs('media/abc')).toBe(true);
});
