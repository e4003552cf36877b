import type { JobServiceService } from '@longwave/rpc/job';
import type { RpcClient } from '@longwave/rpc';

export type JobClient = RpcClient<typeof JobServiceService>;

/** Why work on a job ended early. */
export class LeaseEnded extends Error {
  readonly reason: 'stopped' | 'lost' | 'shutdown';

  constructor(reason: 'stopped' | 'lost' | 'shutdown') {
    super(`the lease ended: ${reason}`);
    this.name = 'LeaseEnded';
    this.reason = reason;
  }
}

/** A stop must take effect within 5 s, so the lease is asked about more often than it would need to live. */
const renewEveryMs = 2_000;

/**
 * Keeps one lease and aborts `controller` with a `LeaseEnded` when management says stop, when the lease is lost, or when it cannot
 * be renewed before it runs out. Dispose to stop keeping it.
 */
export function keepLease(
  client: JobClient,
  lease: { readonly jobId: string; readonly leaseId: string; readonly leaseMs: number },
  controller: AbortController,
): Disposable {
  let endsAt = performance.now() + lease.leaseMs;
  let closed = false;
  let timer: NodeJS.Timeout;
  const renew = async () => {
    const askedAt = performance.now();
    try {
      const { held, stop } = await client.renewLease(
        { jobId: lease.jobId, leaseId: lease.leaseId },
        { deadlineMs: Math.max(1, Math.min(renewEveryMs, endsAt - askedAt)), signal: controller.signal },
      );
      if (stop) return controller.abort(new LeaseEnded('stopped'));
      if (!held) return controller.abort(new LeaseEnded('lost'));
      endsAt = askedAt + lease.leaseMs;
    } catch {
      if (performance.now() >= endsAt) return controller.abort(new LeaseEnded('lost'));
    }
    schedule();
  };
  const schedule = () => {
    if (closed || controller.signal.aborted) return;
    const waitMs = Math.min(renewEveryMs, lease.leaseMs / 3, endsAt - performance.now());
    timer = setTimeout(() => void renew(), Math.max(50, waitMs));
  };
  schedule();
  return {
    [Symbol.dispose]: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
