import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLeasedMemory } from './leased-memory.ts';

const leaseMs = 4;
const accounts = ['a', 'b'];

/**
 * A memory and who changes what it keeps. Every step takes a millisecond of the one true time; calls and answers are under way as long as
 * the steps say. Values are the position of the account's last change.
 */
function createWorld() {
  const memory = createLeasedMemory<number>({ maxAnswers: 10, maxBytes: 1_000, sizeOf: () => 1, now: () => now });
  const changes: string[] = [];
  /** For each change: when its answer may be given because the lease of the holder that did not hear of it has ended. */
  const committedAt: number[] = [];
  let now = 0;
  let acknowledged = 0;
  const valueOf = (account: string) => changes.lastIndexOf(account) + 1;
  const asked: { account: string; value: number; known: number }[] = [];
  const renewals: { sentAt: number; known: number; read?: number }[] = [];
  const isAnswered = (at: number) => acknowledged > at || now >= committedAt[at]! + leaseMs;
  return {
    tick: () => void (now += 1),
    change: (account: string) => {
      changes.push(account);
      committedAt.push(now);
    },
    /** auth-server reads its position, then the credential. */
    ask: (account: string) => void asked.push({ account, value: valueOf(account), known: changes.length }),
    hear: (which: number) => {
      const [answer] = asked.splice(which % Math.max(asked.length, 1), 1);
      if (!answer) return;
      const { account, value, known } = answer;
      memory.keep(account, { value, accountId: account, endsAt: Infinity, known: BigInt(known) });
    },
    /** One call at a time: the next one acknowledges what the last one told. */
    call: () => {
      if (renewals.length > 0) return;
      acknowledged = Number(memory.position());
      renewals.push({ sentAt: now, known: acknowledged });
    },
    read: () => renewals.forEach((call) => (call.read = changes.length)),
    renew: () => {
      const call = renewals[0];
      if (call?.read === undefined) return;
      renewals.pop();
      const accountIds = changes.slice(call.known, call.read);
      memory.renew(call.sentAt + leaseMs, { position: BigInt(call.read), everything: false, accountIds });
    },
    /** The call was lost. */
    lose: () => void renewals.pop(),
    assertNothingStale: () => {
      for (const account of accounts) {
        const found = memory.find(account);
        const missed = changes.findIndex(
          (changed, at) => changed === account && at >= (found ?? Infinity) && isAnswered(at),
        );
        if (missed >= 0) throw new Error(`at ${now} ${account} is ${found} after the answer to change ${missed + 1}`);
      }
    },
    hits: () => accounts.filter((account) => memory.find(account) !== undefined).length,
  };
}

type World = ReturnType<typeof createWorld>;
type Step = (world: World) => void;
const account = fc.constantFrom(...accounts);
const step = fc.oneof(
  fc.constantFrom<Step>(
    (world) => world.tick(),
    (world) => world.call(),
    (world) => world.read(),
    (world) => world.renew(),
    (world) => world.lose(),
    // As they follow each other on a fast network.
    (world) => (world.call(), world.read(), world.renew()),
  ),
  account.map(
    (changed): Step =>
      (world) =>
        world.change(changed),
  ),
  account.map(
    (asked): Step =>
      (world) =>
        world.ask(asked),
  ),
  fc.nat(3).map(
    (which): Step =>
      (world) =>
        world.hear(which),
  ),
  account.map(
    (asked): Step =>
      (world) => (world.ask(asked), world.hear(0)),
  ),
);

test('after the answer to a change nothing from before it is found, in whatever order calls, news and answers come', () => {
  let hits = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = createWorld();
      for (const act of steps) {
        act(world);
        world.assertNothingStale();
        hits += world.hits();
      }
    }),
    { numRuns: 4_000 },
  );
  expect(hits).toBeGreaterThan(500);
});

const entry = { value: 1, accountId: 'a', endsAt: 100, known: 5n };
const nothing = { position: 5n, everything: false, accountIds: [] };

/** A memory whose clock a test sets. */
function createMemory() {
  const clock = { now: 1 };
  const memory = createLeasedMemory<number>({
    maxAnswers: 10,
    maxBytes: 20,
    sizeOf: (value) => value,
    now: () => clock.now,
  });
  return { clock, memory, findAt: (at: number) => ((clock.now = at), memory.find('key')) };
}

test('nothing is found without a lease or at the end of the answer itself', () => {
  const { memory, findAt } = createMemory();
  memory.renew(10, nothing);
  memory.keep('key', entry);
  expect([findAt(9), findAt(10)]).toEqual([1, undefined]);
  memory.renew(1_000, nothing);
  expect([findAt(99), findAt(100)]).toEqual([1, undefined]);
  memory.end();
  memory.renew(1_000, nothing);
  expect(findAt(50)).toBeUndefined();
});

test('nothing is kept without a lease, or longer than the answer holds', () => {
  const { clock, memory } = createMemory();
  memory.keep('before', entry);
  memory.renew(1_000, nothing);
  memory.keep('key', entry);
  expect(memory.size()).toBe(1);
  clock.now = 101;
  memory.keep('ended', entry);
  memory.renew(1_000, nothing);
  expect(memory.size()).toBe(0);
});

test('answers are bounded by their bytes, and by their number where they are small; the least recently used goes first', () => {
  const keptOf = (sizes: readonly number[]) => {
    const { memory } = createMemory();
    memory.renew(50, nothing);
    for (const [at, value] of sizes.entries()) memory.keep(String(at), { ...entry, value });
    return sizes.filter((_, at) => memory.find(String(at)) !== undefined);
  };
  expect(keptOf([8, 9, 10])).toEqual([9, 10]);
  expect(keptOf([8, 21])).toEqual([8]);
  expect(keptOf(Array.from({ length: 12 }, () => 0))).toHaveLength(10);
});

test('news forget the accounts that they name, everything where they say so, and everything when positions go back', () => {
  const found = (news: { position: bigint; everything: boolean; accountIds: string[] }) => {
    const { memory } = createMemory();
    memory.renew(50, nothing);
    memory.keep('a', entry);
    memory.keep('b', { ...entry, accountId: 'b' });
    memory.renew(50, news);
    return ['a', 'b'].filter((key) => memory.find(key) !== undefined);
  };
  expect(found({ position: 6n, everything: false, accountIds: ['a'] })).toEqual(['b']);
  expect(found({ position: 6n, everything: true, accountIds: [] })).toEqual([]);
  expect(found({ position: 4n, everything: false, accountIds: [] })).toEqual([]);
});

test('an answer that does not know the newest change is not kept', () => {
  const { memory } = createMemory();
  memory.renew(50, { ...nothing, position: 6n });
  memory.keep('key', entry);
  expect(memory.find('key')).toBeUndefined();
});
