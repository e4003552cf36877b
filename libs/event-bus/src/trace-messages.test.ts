import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { NodeSDK, tracing } from '@opentelemetry/sdk-node';
import type { BusMessage, DeliveredMessage, EventBus, SerialisedMessage, SubscribeOptions } from './port.ts';
import { traceMessages } from './trace-messages.ts';

const spans = new tracing.InMemorySpanExporter();
const sdk = new NodeSDK({ autoDetectResources: false, spanProcessors: [new tracing.SimpleSpanProcessor(spans)] });
beforeAll(() => sdk.start());
beforeEach(() => spans.reset());
afterAll(() => sdk.shutdown());

const [one, two] = ['1', '2'].map((digit) => digit.repeat(32)) as [string, string];
const placeIn = (traceId: string) => `00-${traceId}-b7ad6b7169203331-01`;
const message = (id: string, traceparent?: string): BusMessage => ({
  ...{ topic: 'topic', key: 'key', id, type: 'thing.counted', payload: {} },
  ...(traceparent !== undefined && { traceparent }),
});
const delivered = (id: string, traceparent?: string): DeliveredMessage => ({
  ...message(id, traceparent),
  ...{ attempt: 1, publishedAt: new Date() },
});
const activeTrace = () => trace.getActiveSpan()?.spanContext().traceId;
const told = () => spans.getFinishedSpans().map((span) => [span.name, span.spanContext().traceId]);

/** What a traced bus gives to the engine: the messages, and the handler of a follower. */
function traced() {
  const engine: { sent: readonly (BusMessage | SerialisedMessage)[]; handle?: SubscribeOptions['handle'] } = {
    sent: [],
  };
  const bus: Pick<EventBus, 'publish' | 'subscribe'> = {
    publish: async (messages) => void (engine.sent = messages),
    subscribe: async ({ handle }) => {
      engine.handle = handle;
      return { close: async () => undefined, [Symbol.asyncDispose]: async () => undefined };
    },
  };
  return { engine, bus: traceMessages(bus as EventBus, 'redis_streams') };
}

const follow = async (messages: readonly DeliveredMessage[], options: Partial<SubscribeOptions>) => {
  const { engine, bus } = traced();
  await bus.subscribe({ topic: 'topic', group: 'group', handle: async () => undefined, ...options });
  await engine.handle!(messages);
};

test('a message goes on its way with the place of its sending, and one without a trace as it is', async () => {
  const { engine, bus } = traced();
  const plain = message('b');
  await bus.publish([message('a', placeIn(one)), plain]);
  const [sent] = spans.getFinishedSpans();
  expect(sent).toMatchObject({ name: 'send topic', attributes: { 'messaging.message.id': 'a' } });
  expect(engine.sent[0]!.traceparent).toBe(`00-${one}-${sent!.spanContext().spanId}-01`);
  expect(engine.sent[1]).toBe(plain);
  expect(told()).toHaveLength(1);
});

test('messages that are handled one by one are each part of their own trace', async () => {
  const seen: unknown[] = [];
  await follow([delivered('a', placeIn(one)), delivered('b'), delivered('c', placeIn(two))], {
    oneByOne: true,
    handle: async (messages) => void seen.push([messages.map(({ id }) => id), activeTrace()]),
  });
  expect(seen).toEqual([
    [['a'], one],
    [['b'], undefined],
    [['c'], two],
  ]);
  expect(told()).toEqual([
    ['process topic', one],
    ['process topic', two],
  ]);
});

test('a batch of several traces has a span in each and is part of none, and one of a single trace is part of it', async () => {
  const seen: unknown[] = [];
  const handle = async () => void seen.push(activeTrace());
  await follow([delivered('a', placeIn(one)), delivered('b', placeIn(two)), delivered('c', placeIn(one))], { handle });
  expect(told()).toEqual([
    ['process topic', one],
    ['process topic', two],
  ]);
  expect(spans.getFinishedSpans().map(({ attributes }) => attributes['messaging.batch.message_count'])).toEqual([3, 3]);
  expect(spans.getFinishedSpans().map(({ links }) => links.length)).toEqual([1, 0]);
  await follow([delivered('a', placeIn(one)), delivered('b')], { handle });
  expect(seen).toEqual([undefined, one]);
});

test('a failure of the handler is that of every span, and reaches the engine', async () => {
  const handle = () => Promise.reject(new RangeError('private'));
  await expect(follow([delivered('a', placeIn(one)), delivered('b', placeIn(two))], { handle })).rejects.toThrow(
    RangeError,
  );
  expect(spans.getFinishedSpans().map(({ attributes }) => attributes['error.type'])).toEqual([
    'RangeError',
    'RangeError',
  ]);
});
