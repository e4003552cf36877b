import { findAnywhere, type ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem } from '@longwave/problems';
import { LeaseEnded, leasedWorker, type PollLoop } from '@longwave/worker-kit';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import {
  claimDelivery,
  failUnsent,
  hasDeliveredSince,
  recordAttempt,
  releaseDelivery,
  renewDeliveryLease,
  type ClaimedDelivery,
} from './attempt-table.ts';
import type { PostMessage } from './post-message.ts';
import { nextAttemptAt } from './retry-schedule.ts';
import { signedHeaders } from './webhook-secret.ts';
import { validSecrets, type WebhookSecrets } from './endpoint-secrets.ts';

/** Longer than an attempt; after a crash the message is sent again when it has run out. */
const defaultLeaseMs = 30_000;
/** Attempts that run at a time. */
const defaultConcurrency = 48;

export interface DeliveryOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly secrets: WebhookSecrets;
  readonly post: PostMessage;
  readonly clock: () => Date;
  /** 0 to 1. */
  readonly random?: () => number;
  readonly leaseMs?: number;
  readonly concurrency?: number;
  /** Milliseconds between two polls; a wake-up call comes earlier. */
  readonly pollMs?: number;
  readonly onError: (error: unknown, delivery?: Pick<ClaimedDelivery, 'id' | 'endpoint_id'>) => void;
}

/** Why an endpoint was disabled, for its owner. */
const causes = {
  gone: 'The receiver answered 410 Gone, which says that it wants nothing any more.',
  failing: 'Nothing could be delivered for three days. See the deliveries for the reasons; then enable the endpoint.',
} as const;

/**
 * Sends due deliveries, each under a lease, until it is disposed. Any number of processes may do it. A message may arrive twice, when a
 * process ends between the answer and its record; its id is the same.
 */
export function deliverMessages(options: DeliveryOptions): PollLoop {
  const { pool, execute, secrets, post, clock, onError } = options;
  const { random = Math.random, leaseMs = defaultLeaseMs, concurrency = defaultConcurrency, pollMs = 1_000 } = options;

  /** Disables an endpoint; its key names the attempt, so that a repetition changes nothing. */
  async function disable(delivery: ClaimedDelivery, cause: string): Promise<void> {
    const { workspace_id: workspaceId, endpoint_id: id, attempts } = delivery;
    const command = { type: 'webhook_endpoint.disable', id, changes: { cause } } as const;
    await executeAsManagement(
      execute,
      { workspaceId, idempotencyKey: `${delivery.id}:${attempts}:disable` },
      command,
    ).catch((error: unknown) => {
      if (!isProblem(error, 'state_not_allowed')) throw error;
    });
  }

  async function send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<void> {
    const endpoint = await findAnywhere(pool, 'webhook_endpoints', delivery.endpoint_id);
    if (endpoint?.lifecycle_state !== 'active') {
      const problem = endpoint?.lifecycle_state === 'disabled' ? 'endpoint_disabled' : 'endpoint_deleted';
      return failUnsent(pool, delivery, problem, clock());
    }
    const startedAt = clock();
    const valid = validSecrets(secrets, endpoint.id, endpoint.attributes, startedAt);
    const { retryAfterMs, ...posted } = valid
      ? await post(
          endpoint.attributes.url,
          delivery.body,
          signedHeaders(delivery.message_id, delivery.body, valid, startedAt),
          signal,
        )
      : ({ durationMs: 0, status: undefined, problem: 'secret_unavailable', answer: undefined } as const);
    const now = clock();
    const failed = delivery.attempts_since_queued + 1;
    const isOver = posted.problem === undefined || posted.problem === 'gone';
    const nextAt = isOver
      ? undefined
      : nextAttemptAt({ queuedAt: delivery.queued_at, failed, retryAfterMs }, now, random());
    // Disabled first: after a crash in between the delivery is found again, and fails.
    if (posted.problem === 'gone') await disable(delivery, causes.gone);
    else if (posted.problem && !nextAt && !(await hasDeliveredSince(pool, endpoint.id, delivery.queued_at)))
      await disable(delivery, causes.failing);
    await recordAttempt(pool, delivery, { ...posted, startedAt }, nextAt, now);
  }

  return leasedWorker<ClaimedDelivery>({
    concurrency,
    pollMs,
    claim: () => claimDelivery(pool, clock(), leaseMs),
    leaseOf: (delivery) => ({
      leaseMs,
      renew: () => renewDeliveryLease(pool, delivery, new Date(clock().getTime() + leaseMs)),
    }),
    work: async (delivery, signal) => {
      try {
        await send(delivery, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        const isShutdown = signal.reason instanceof LeaseEnded && signal.reason.reason === 'shutdown';
        if (isShutdown) await releaseDelivery(pool, delivery, clock());
      }
    },
    onError,
  });
}
