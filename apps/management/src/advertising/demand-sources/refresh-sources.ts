import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import { isProblem } from '@longwave/problems';
import { pollLoop } from '@longwave/worker-kit';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { maxFailures, pauseMs } from './demand-source.ts';
import { claimDueSources, releaseSource, type DueSource } from './demand-table.ts';
import { refreshSource, type RefreshDeps } from './refresh-source.ts';
import { settleAds, type Settlement } from './settle-ads.ts';
import { problemOf } from './validate-source.ts';

/** Sources that one process works on at the same time. */
const batchSize = 4;
/** Longer than the documents and files of one source may take. */
const leaseMs = 5 * 60_000;

type FoundProblem = NonNullable<ResourceRow<'demand_sources'>['attributes']['problem']>;

/** Shows the problem of an active source, or that it has none any more. */
async function recordProblem({ execute }: RefreshDeps, source: ResourceRow<'demand_sources'>, problem?: FoundProblem) {
  const { id, version, workspace_id: workspaceId, attributes } = source;
  if (attributes.problem?.detail === problem?.detail) return;
  const envelope = { workspaceId, idempotencyKey: `demand:${id}:${version}:problem` };
  await (problem
    ? executeAsManagement(execute, envelope, {
        ...{ type: 'demand_source.record_failure', id, version, changes: { problem } },
      })
    : executeAsManagement(execute, envelope, { type: 'demand_source.record_recovery', id, version, changes: {} }));
}

/** Asks one source, settles its ads and says when it is due again. */
async function refresh(deps: RefreshDeps, source: ResourceRow<'demand_sources'>, due: DueSource) {
  const refusal = await refreshSource(deps, source);
  const failures = refusal ? due.failures + 1 : 0;
  const settled = await settleAds(deps, due.workspaceId, due.sourceId);
  const unassigned = settled.fault === undefined ? undefined : { code: 'ad_not_assigned', detail: settled.fault };
  // A few failures in a row are usual, and a problem that is shown stays until an answer can be used.
  if (!refusal) await recordProblem(deps, source, unassigned);
  else if (failures >= maxFailures) await recordProblem(deps, source, problemOf(refusal));
  const refreshAt = new Date(deps.clock().getTime() + pauseMs(failures, deps.random()));
  return { ...settled, next: { refreshAt, failures } };
}

/** In a workspace that is suspended or closed nobody is asked, and no ad serves. */
async function isOpen({ pool }: RefreshDeps, workspaceId: string): Promise<boolean> {
  const workspace = await findResource(pool, workspaceId, 'workspaces', workspaceId);
  return workspace === undefined || ['provisioning', 'active'].includes(workspace.lifecycle_state);
}

async function work(deps: RefreshDeps, due: DueSource): Promise<void> {
  const claimedAt = deps.clock();
  const { pool } = deps;
  const { workspaceId, sourceId, failures } = due;
  const release = (settled?: Settlement, next?: { readonly refreshAt: Date; readonly failures: number }) =>
    releaseSource(pool, sourceId, { claimedAt, settleAt: settled?.nextEnd, next });
  const source = await findResource(pool, workspaceId, 'demand_sources', sourceId);
  if (!source || !(await isOpen(deps, workspaceId))) {
    const refreshAt = new Date(claimedAt.getTime() + pauseMs(failures, deps.random()));
    return await release({ nextEnd: refreshAt, fault: undefined }, { refreshAt, failures });
  }
  if (!due.isRefresh || source.lifecycle_state !== 'active')
    return await release(await settleAds(deps, workspaceId, sourceId));
  const { next, ...settled } = await refresh(deps, source, due);
  await release(settled, next);
}

/** One round: asks the sources that are due and settles their ads. True when there may be more. */
export async function refreshDueSources(deps: RefreshDeps, onError: (error: Error) => void): Promise<boolean> {
  const now = deps.clock();
  const due = await claimDueSources(deps.pool, now, new Date(now.getTime() + leaseMs), batchSize);
  await Promise.all(
    due.map((one) =>
      work(deps, one).catch((error: unknown) => {
        // A person or another process changed the source at the same moment: the next round sees it, when the lease is over.
        if (!isProblem(error, 'version_conflict', 'state_not_allowed', 'idempotency_in_progress'))
          onError(new Error(`demand source ${one.sourceId} was not refreshed`, { cause: error }));
      }),
    ),
  );
  return due.length === batchSize;
}

/** Keeps the ads of all demand sources up to date until it is disposed. Several processes may do so. */
export const startDemandRefresh = (
  options: RefreshDeps & {
    readonly everyMs: number;
    readonly onError: (error: unknown) => void;
  },
): AsyncDisposable =>
  pollLoop({
    everyMs: options.everyMs,
    run: () => refreshDueSources(options, options.onError),
    onError: options.onError,
  });
