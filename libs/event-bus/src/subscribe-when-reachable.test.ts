import { expect, test } from '@jest/globals';
import type { DeliveredMessage, SubscribeOptions, Subscription } from './port.ts';
import { subscribeWhenReachable } from './subscribe-when-reachable.ts';

/** A bus that refuses the first subscriptions, and counts tries and closings. */
function busAwayFor(times: number) {
  const taken = Promise.withResolvers<SubscribeOptions>();
  const seen = { tries: 0, closed: 0 };
  const close = async () => void seen.closed++;
  return {
    seen,
    taken: taken.promise,
    subscribe: async (options: SubscribeOptions): Promise<Subscription> => {
      if (++seen.tries <= times) throw new Error('connect ECONNREFUSED');
      taken.resolve(options);
      return { close, [Symbol.asyncDispose]: close };
    },
  };
}

const follow = (bus: ReturnType<typeof busAwayFor>, handle: SubscribeOptions['handle'] = async () => undefined) => {
  const retried: string[] = [];
  const follower = subscribeWhenReachable(bus, {
    ...{ topic: 'topic', group: 'group', handle },
    onRetry: (error, during) => retried.push(`${during}: ${(error as Error).message}`),
  });
  return Object.assign(follower, { retried });
};

test('a follower subscribes when the bus can be reached, and closes its subscription when it is disposed', async () => {
  const bus = busAwayFor(1);
  const follower = follow(bus);
  expect(await bus.taken).toMatchObject({ topic: 'topic', group: 'group', retry: { attempts: 3 } });
  expect(follower.retried).toEqual(['subscribe: connect ECONNREFUSED']);
  await follower[Symbol.asyncDispose]();
  expect(bus.seen).toEqual({ tries: 2, closed: 1 });
});

test('a follower that is disposed while the bus is away tries no more', async () => {
  const bus = busAwayFor(Infinity);
  const follower = follow(bus);
  await new Promise(setImmediate);
  const beganAt = performance.now();
  await follower[Symbol.asyncDispose]();
  // The next try would come after a second.
  expect(performance.now() - beganAt).toBeLessThan(950);
  expect(bus.seen).toEqual({ tries: 1, closed: 0 });
});

test('a handler whose engine is away is tried again with the same messages', async () => {
  const bus = busAwayFor(0);
  const handled: (readonly DeliveredMessage[])[] = [];
  await using follower = follow(bus, async (messages) => {
    handled.push(messages);
    if (handled.length === 1) throw new Error('the database is away');
  });
  const messages: DeliveredMessage[] = [];
  await (await bus.taken).handle(messages);
  expect(handled).toEqual([messages, messages]);
  expect(follower.retried).toEqual(['handle: the database is away']);
});
