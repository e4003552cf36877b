import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { ListenerServiceService } from '@longwave/rpc/audience';
import type { BindingServiceService } from '@longwave/rpc/delivery';
import type { ServingServiceService } from '@longwave/rpc/serving';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';

/** The longest that a store may take. */
const deadlineMs = 60_000;

export interface ErasureOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly bindings: Pick<RpcClient<typeof BindingServiceService>, 'findListeners' | 'eraseListeners'>;
  readonly listeners: Pick<RpcClient<typeof ListenerServiceService>, 'collectListeners' | 'eraseListeners'>;
  readonly serving: Pick<RpcClient<typeof ServingServiceService>, 'forgetListeners'>;
}

/** The first 16 bytes of a listener key, as decisions are asked for. */
const bucketOf = (listenerKey: string) => Buffer.from(listenerKey.slice(0, 32), 'hex');

/**
 * Asks every store to erase the listeners that a privacy request names (docs/privacy.md). analytics-sink keeps their keys from the first
 * step to its own, which is the last: an attempt after a crash goes on with the same listeners, although other stores no longer know them.
 */
export const createEraseListenersHandler = (options: ErasureOptions): JobHandler => ({
  maxAttempts: 100,
  fail: {
    commandType: 'listener_erasure.fail',
    problem: { code: 'erasure_gave_up', detail: 'Not every store could be reached. Send the command again.' },
  },
  run: async (job, signal) => {
    const { pool, execute, bindings, listeners } = options;
    const { workspace_id: workspaceId, subject_id: erasureId } = job;
    const call = { deadlineMs, signal };
    const erasure = await findResource(pool, workspaceId, 'listener_erasures', erasureId);
    const { decision_ids: decisionIds = [], listener_keys: namedKeys = [] } = erasure!.attributes;
    const send = (step: string) => ({ workspaceId, idempotencyKey: `${job.lease_id}:${step}`, reason: leaseOf(job) });
    // An attempt that crashed has begun it already.
    if (erasure?.lifecycle_state === 'requested')
      await executeAsManagement(execute, send('begin'), { type: 'listener_erasure.begin', id: erasureId, changes: {} });

    const { listeners: found } = await bindings.findListeners({ workspaceId, decisionIds }, call);
    const asked = [...new Set([...namedKeys, ...found.map(({ listenerKey }) => listenerKey)])];
    const { listenerKeys } = await listeners.collectListeners({ erasureId, workspaceId, listenerKeys: asked }, call);
    const listenerBuckets = listenerKeys.map(bucketOf);
    const forgotten = await options.serving.forgetListeners({ workspaceId, listenerBuckets }, call);
    const { bindings: bound } = await bindings.eraseListeners({ erasureId, workspaceId, listenerKeys }, call);
    const { erased, keptListeners } = await listeners.eraseListeners({ erasureId, workspaceId }, call);

    const rows = [
      { store: 'internal-serving', table: 'listener', rows: forgotten.records },
      { store: 'internal-serving', table: 'play_sample', rows: forgotten.sampledPlays },
      { store: 'public-delivery', table: 'binding', rows: bound },
      ...erased.map((one) => ({ store: 'analytics-sink', ...one })),
    ];
    const known = new Set(found.map(({ decisionId }) => decisionId));
    const changes = {
      erased: rows.filter((one) => one.rows > 0n).map((one) => ({ ...one, rows: Number(one.rows) })),
      unknown_decisions: decisionIds.filter((id) => !known.has(id)).length,
      kept_listeners: keptListeners,
    };
    await executeAsManagement(execute, send('record'), { type: 'listener_erasure.record', id: erasureId, changes });
  },
});
