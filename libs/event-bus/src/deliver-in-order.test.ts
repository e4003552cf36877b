import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { backOffMs, deliverInOrder, type HeldMessage } from './deliver-in-order.ts';

const retry = { attempts: 3, deaths: 3, initialDelayMs: 10, maxDelayMs: 1_000 };

function hold(index: number, tries = 0): HeldMessage {
  const message = { topic: 't', key: 'k', id: String(index), type: 'thing.happened', payload: index };
  return { message, publishedAt: new Date(0), position: String(index), tries };
}

async function deliverAll(held: HeldMessage[], fails: (id: string) => boolean, batchSize: number) {
  const done: string[] = [];
  const dead: string[] = [];
  const attempts: Record<string, number[]> = {};
  for (;;) {
    const delayMs = await deliverInOrder(
      held,
      {
        batchSize,
        retry,
        handle: async (messages) => {
          for (const { id, attempt } of messages) (attempts[id] ??= []).push(attempt);
          if (messages.some(({ id }) => fails(id))) throw new Error('no');
        },
      },
      {
        recordTry: async () => {},
        acknowledge: async (chunk) => void done.push(...chunk.map(({ position }) => position)),
        bury: async ({ position }) => void dead.push(position),
        stopping: () => false,
      },
    );
    if (delayMs === undefined) return { done, dead, attempts };
  }
}

test('exactly the failing messages become dead letters, and all others are acknowledged in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 30 }),
      fc.integer({ min: 1, max: 10 }),
      async (poison, batchSize) => {
        const held = poison.map((_, index) => hold(index));
        const { done, dead } = await deliverAll(held, (id) => poison[Number(id)] === true, batchSize);
        const indexes = poison.map((_, index) => String(index));
        expect(dead).toEqual(indexes.filter((id) => poison[Number(id)]));
        expect(done).toEqual(indexes.filter((id) => !poison[Number(id)]));
      },
    ),
  );
});

test('a failing message is tried as often as the policy says, and its attempts are numbered from 1', async () => {
  const { attempts } = await deliverAll([hold(0), hold(1), hold(2)], (id) => id === '1', 10);
  expect(attempts).toEqual({ 0: [1, 2], 1: [1, 2, 3], 2: [1, 2] });
});

test('a message that fails because its consumer is being stopped is left to the next one, however often it was tried', async () => {
  const held = [hold(0, 2)];
  let stopping = false;
  const dead: string[] = [];
  await deliverInOrder(
    held,
    {
      batchSize: 1,
      retry: { ...retry, deaths: 9 },
      handle: async () => {
        stopping = true;
        throw new Error('stopped while waiting for the database');
      },
    },
    {
      recordTry: async () => {},
      acknowledge: async () => {},
      bury: async ({ position }) => void dead.push(position),
      stopping: () => stopping,
    },
  );
  expect(dead).toEqual([]);
  expect(held).toHaveLength(1);
});

test('a message whose consumers died as often as the policy allows is buried, and not sooner than a failing one without another try', async () => {
  const { dead, done, attempts } = await deliverAll([hold(0, 3), hold(1, 1)], () => false, 10);
  expect(dead).toEqual(['0']);
  expect(done).toEqual(['1']);
  expect(attempts).toEqual({ 1: [2] });
});

test('the back-off doubles up to its maximum', () => {
  expect([1, 2, 3, 4, 9].map((tries) => backOffMs(tries, { ...retry, maxDelayMs: 50 }))).toEqual([10, 20, 40, 50, 50]);
});
