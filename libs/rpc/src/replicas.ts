import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Client } from '@grpc/grpc-js';
import { Problem } from '@longwave/problems';
import { renderListenAddress, type ListenAddress } from '@longwave/service-kit';
import { NeverSent } from './never-sent.ts';
import { createReplica, type Replica } from './replica.ts';

/** Names are resolved again after this time, and after the shorter one while no replica is ready. */
const resolveAgainMs = { ready: 5_000, unready: 1_000 };

/** The addresses of a name. Rejects when it has none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** By the resolver of this machine. */
export const lookupSystem: Lookup = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

interface CallEnd {
  /** In Unix milliseconds; Infinity when the caller waits for ever. */
  readonly endMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Replicas at which a call was tried and never sent. */
type Tried = ReadonlyMap<Replica, NeverSent>;
const none: Tried = new Map();

const noAddress = () => new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });

export const abortedProblem = ({ reason: cause }: AbortSignal) =>
  new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });

/** All replicas of a service. */
export interface Replicas {
  /**
   * Sends a call to the replica that is ready and has the fewest calls under way; to a further one when it was surely never sent.
   * Rejects with a `Problem`.
   */
  readonly call: <T>(end: CallEnd, send: (replica: Replica) => Promise<T>) => Promise<T>;
  /** The messages of a stream of the replica that would get the next call. */
  readonly stream: <T>(end: CallEnd, open: (replica: Replica) => AsyncIterable<T>) => AsyncGenerator<T>;
  readonly close: () => void;
}

/**
 * Connects to every replica at these addresses as soon as the first call comes. A name stands for all addresses that it has, and is
 * resolved again and again: new ones get calls, and those that are gone get no further one.
 */
export function createReplicas(
  addresses: readonly ListenAddress[],
  connect: (address: string) => Client,
  addressesOf: Lookup,
): Replicas {
  /** By `host:port`. */
  const open = new Map<string, Replica>();
  let all: readonly Replica[] = [];
  let next = 0;
  let resolved: readonly (readonly string[])[] = [];
  let resolving: Promise<void> | undefined;
  let resolvedMs = -Infinity;
  let isClosed = false;

  function use(found: ReadonlySet<string>): void {
    for (const address of found) if (!open.has(address)) open.set(address, createReplica(connect(address)));
    for (const [address, replica] of open)
      if (!found.has(address)) {
        open.delete(address);
        replica.close();
      }
    all = [...open.values()];
  }

  async function resolve({ host, port }: ListenAddress): Promise<readonly string[]> {
    const hosts = isIP(host) === 0 ? await addressesOf(host) : [host];
    return hosts.map((each) => renderListenAddress({ host: each, port }));
  }

  /** A name that cannot be resolved keeps the addresses that it had. Rejects when no address at all is known. */
  async function resolveAll(): Promise<void> {
    const results = await Promise.allSettled(addresses.map(resolve));
    resolvedMs = Date.now();
    if (isClosed) return;
    resolved = results.map((result, nth) => (result.status === 'fulfilled' ? result.value : (resolved[nth] ?? [])));
    const found = new Set(resolved.flat());
    if (found.size > 0) return use(found);
    const [cause] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });
  }

  const isFixed = addresses.every(({ host }) => isIP(host) !== 0);
  if (isFixed) use(new Set(addresses.map(renderListenAddress)));

  /** Resolves names in the background when they were resolved long enough ago. */
  function resolveWhenDue(afterMs: number): Promise<void> | undefined {
    if (isFixed || isClosed || (!resolving && Date.now() - resolvedMs < afterMs)) return undefined;
    if (!resolving) {
      resolving = resolveAll().finally(() => (resolving = undefined));
      resolving.catch(() => undefined);
    }
    return resolving;
  }

  /** The best of those that were not tried, in turns among equals. Undefined when all were tried. */
  function best(tried: Tried): Replica | undefined {
    let found: Replica | undefined;
    let lowest = Infinity;
    const first = next;
    for (let nth = 0; nth < all.length; nth++) {
      const index = (first + nth) % all.length;
      const rank = tried.has(all[index]!) ? Infinity : all[index]!.rank();
      if (rank >= lowest) continue;
      lowest = rank;
      found = all[index];
      next = index + 1;
    }
    return found;
  }

  /** Waits while no replica is ready and connections are being made, as each of them makes its calls wait. */
  async function waitForBest(tried: Tried, { endMs, signal }: CallEnd): Promise<Replica> {
    for (;;) {
      if (signal?.aborted) throw abortedProblem(signal);
      const resolution = resolveWhenDue(resolveAgainMs.unready);
      if (all.length === 0) {
        await (resolution ?? Promise.reject(noAddress()));
        continue;
      }
      const found = best(tried);
      if (!found) throw [...tried.values()].at(-1)!.problem;
      if (!found.isConnecting() || Date.now() >= endMs) return found;
      await Promise.race(all.filter((each) => each.isConnecting()).map((each) => each.changed(endMs)));
    }
  }

  /** The replica that a call can be given to at once, if any. */
  function bestNow(tried: Tried): Replica | undefined {
    void resolveWhenDue(resolveAgainMs.ready);
    // The only one makes calls wait by itself.
    if (all.length === 1 && tried === none) return all[0];
    const found = best(tried);
    return found?.isReady() ? found : undefined;
  }

  /** Those that a call was tried at, of which only a call that was never sent may go to another one. */
  function andTried(tried: Tried, replica: Replica, error: unknown): Tried {
    if (!(error instanceof NeverSent)) throw error;
    return new Map([...tried, [replica, error]]);
  }

  return {
    call: async (end, send) => {
      for (let tried = none; ;) {
        const replica = bestNow(tried) ?? (await waitForBest(tried, end));
        try {
          return await replica.run(() => send(replica));
        } catch (error) {
          tried = andTried(tried, replica, error);
        }
      }
    },
    stream: async function* (end, openOn) {
      for (let tried = none; ;) {
        const replica = bestNow(tried) ?? (await waitForBest(tried, end));
        try {
          return yield* openOn(replica);
        } catch (error) {
          tried = andTried(tried, replica, error);
        }
      }
    },
    close: () => {
      isClosed = true;
      for (const replica of all) replica.close();
    },
  };
}
