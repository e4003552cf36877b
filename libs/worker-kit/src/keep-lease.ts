import { pollLoop } from './poll-loop.ts';

/** Why work under a lease ended early: somebody stopped it, another worker may have it, or this process stops. */
export type LeaseEnd = 'stopped' | 'lost' | 'shutdown';

/** The reason of an aborted lease signal. */
export class LeaseEnded extends Error {
  readonly reason: LeaseEnd;

  constructor(reason: LeaseEnd) {
    super(`the lease ended: ${reason}`);
    this.name = 'LeaseEnded';
    this.reason = reason;
  }
}

export interface LeaseTerms {
  /** How long a lease lives from each renewal on. */
  readonly leaseMs: number;
  /**
   * Renews the lease. `stop`: somebody wants the work to end. A renewal that rejects is tried again while the lease lives.
   * @param signal aborted when nobody waits for the answer any more
   */
  readonly renew: (signal: AbortSignal) => Promise<{ readonly held: boolean; readonly stop: boolean }>;
}

/** A lease that is renewed until it is disposed. */
export interface HeldLease extends AsyncDisposable {
  /** Aborted with a `LeaseEnded` at once when the lease has ended. */
  readonly signal: AbortSignal;
}

/** A stop takes effect within 5 s, so the lease is renewed more often than it would need to live. */
const maxRenewEveryMs = 2_000;

/**
 * Keeps a lease that was just taken. Its signal is aborted when a renewal says stop or that the lease is lost, when the lease
 * could not be renewed before it ran out (however long a renewal hangs), and with `shutdown` when that signal is aborted. Renewals go
 * on after a shutdown, until the work has ended.
 */
export function keepLease({ leaseMs, renew }: LeaseTerms, shutdown: AbortSignal): HeldLease {
  const work = new AbortController();
  let isOver = false;
  const end = (reason: LeaseEnd) => {
    isOver = true;
    work.abort(new LeaseEnded(reason));
  };
  const onShutdown = () => work.abort(new LeaseEnded('shutdown'));
  if (shutdown.aborted) onShutdown();
  shutdown.addEventListener('abort', onShutdown, { once: true });
  let expiry = setTimeout(end, leaseMs, 'lost');
  const renewing = pollLoop({
    everyMs: Math.min(maxRenewEveryMs, leaseMs / 3),
    sleepsFirst: true,
    run: async (disposed) => {
      if (isOver) return;
      const askedAt = performance.now();
      const { held, stop } = await renew(disposed);
      if (stop) return end('stopped');
      if (!held) return end('lost');
      clearTimeout(expiry);
      expiry = setTimeout(end, leaseMs - (performance.now() - askedAt), 'lost');
    },
    onError: () => undefined,
  });
  return {
    signal: work.signal,
    [Symbol.asyncDispose]: async () => {
      shutdown.removeEventListener('abort', onShutdown);
      await renewing[Symbol.asyncDispose]();
      clearTimeout(expiry);
    },
  };
}
