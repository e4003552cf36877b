import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import { isProblem } from '@longwave/problems';
import { pollLoop } from '@longwave/worker-kit';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { maxFailures, pauseMs } from './demand-source.ts';
import { claimDueSources, releaseSource, type DueSource } from './demand-table.ts';
import { refreshSource, type Refreshed, type RefreshDeps } from './refresh-source.ts';
import { raceCodes, settleAds, type Settlement } from './settle-ads.ts';
import { isOpen, settleDueSources } from './settle-sources.ts';
import { problemOf } from './validate-source.ts';

/** Sources that one process asks at the same time. */
const workers = 8;
/** Sources of one workspace that all processes ask at the same time. */
const workersOfWorkspace = 2;
/** Longer than the documents and files of one source may take. */
const leaseMs = 5 * 60_000;
/** After a settlement that failed. */
const settleAgainMs = 60_000;

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

/** A look that broke off for a reason that is not the source's. */
const brokenOff: Refreshed = {
  refusal: {
    id: undefined,
    code: 900,
    reason: 'The answer could not be taken over; it is tried again.',
    errorUrls: [],
  },
  fault: undefined,
};

/** The problem to show of a source; `kept`: the one that it has, for a few failures in a row are usual. */
function problemToShow({ refusal, fault }: Refreshed, failures: number, settled: Settlement | undefined) {
  if (refusal) return failures >= maxFailures ? problemOf(refusal) : 'kept';
  if (fault !== undefined) return { code: 'too_many_ads', detail: fault };
  if (settled?.fault !== undefined) return { code: 'ad_not_assigned', detail: settled.fault };
  return undefined;
}

/**
 * Asks one source, settles its ads and says when it is due again. Whatever fails on the way, its ads are settled, the failure counts, and the source
 * waits for its turn as any other; then the first error is thrown.
 */
async function refresh(deps: RefreshDeps, source: ResourceRow<'demand_sources'>, due: DueSource, claimedAt: Date) {
  const errors: unknown[] = [];
  const attempt = async <T>(one: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await one();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const { workspaceId, sourceId } = due;
  const refreshed = (await attempt(() => refreshSource(deps, source))) ?? brokenOff;
  const failures = refreshed.refusal ? due.failures + 1 : 0;
  const settled = await attempt(() => settleAds(deps, workspaceId, sourceId));
  const problem = problemToShow(refreshed, failures, settled);
  if (problem !== 'kept') await attempt(() => recordProblem(deps, source, problem));
  const now = deps.clock().getTime();
  const next = { refreshAt: new Date(now + pauseMs(failures, deps.random())), failures };
  const settleAt = settled ? settled.nextEnd : new Date(now + settleAgainMs);
  await releaseSource(deps.pool, sourceId, { claimedAt, settleAt, next });
  if (errors.length > 0) throw errors[0];
}

async function work(deps: RefreshDeps, due: DueSource): Promise<void> {
  const claimedAt = deps.clock();
  const { workspaceId, sourceId, failures } = due;
  const source = await findResource(deps.pool, workspaceId, 'demand_sources', sourceId);
  if (source?.lifecycle_state === 'active' && (await isOpen(deps.pool, workspaceId)))
    return await refresh(deps, source, due, claimedAt);
  const refreshAt = new Date(claimedAt.getTime() + pauseMs(failures, deps.random()));
  await releaseSource(deps.pool, sourceId, { claimedAt, settleAt: refreshAt, next: { refreshAt, failures } });
}

const claim = ({ pool, clock }: RefreshDeps, limit: number) => {
  const now = clock();
  const until = new Date(now.getTime() + leaseMs);
  return claimDueSources(pool, now, until, { limit, limitOfWorkspace: workersOfWorkspace });
};

const workSafely = (deps: RefreshDeps, due: DueSource, onError: (error: Error) => void) =>
  work(deps, due).catch((error: unknown) => {
    // A person or another process changed the source at the same moment: the next look sees it.
    if (!isProblem(error, ...raceCodes))
      onError(new Error(`demand source ${due.sourceId} was not refreshed`, { cause: error }));
  });

/** One round: asks sources that are due, as many as there are workers. */
export async function refreshDueSources(deps: RefreshDeps, onError: (error: Error) => void): Promise<void> {
  await Promise.all((await claim(deps, workers)).map((due) => workSafely(deps, due, onError)));
}

/**
 * Keeps the ads of all demand sources up to date until it is disposed. Several processes may do so. A worker takes the next source as soon as it is
 * free, and ads that are over end by a loop of their own: neither waits for a slow source.
 */
export function startDemandRefresh(
  options: RefreshDeps & {
    readonly everyMs: number;
    readonly onError: (error: unknown) => void;
  },
): AsyncDisposable {
  const { everyMs, onError } = options;
  const running = new Set<Promise<void>>();
  const asking = pollLoop({
    everyMs,
    run: async () => {
      if (running.size === workers) return;
      for (const due of await claim(options, workers - running.size)) {
        const one = workSafely(options, due, onError).finally(() => {
          running.delete(one);
          asking.wake();
        });
        running.add(one);
      }
    },
    onError,
  });
  const settling = pollLoop({ everyMs, run: () => settleDueSources(options, onError), onError });
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all([asking[Symbol.asyncDispose](), settling[Symbol.asyncDispose]()]);
      await Promise.all(running);
    },
  };
}
