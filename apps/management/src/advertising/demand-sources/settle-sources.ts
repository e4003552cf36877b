import { findResource } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { isProblem } from '@longwave/problems';
import { claimUnsettled, finishSettlement, type UnsettledSource } from './demand-table.ts';
import { raceCodes, settleAds, type SettleDeps } from './settle-ads.ts';
import { removeReadMedia } from './take-media.ts';

type Deps = SettleDeps & { readonly store: ObjectStore };

/** Sources whose ads one process settles at the same time. */
const batchSize = 4;
/** What a process has begun to settle and not finished is settled again after this. */
const againMs = 60_000;
const suspendedMs = 15 * 60_000;

/** In a workspace that is suspended or closed nobody is asked, and no ad serves. */
export async function isOpen(pool: Pool, workspaceId: string): Promise<boolean> {
  const workspace = await findResource(pool, workspaceId, 'workspaces', workspaceId);
  return workspace === undefined || ['provisioning', 'active'].includes(workspace.lifecycle_state);
}

/** When the ads of a source are to be settled next; undefined: when something happens to them. */
async function settle(deps: Deps, { workspaceId, sourceId }: UnsettledSource): Promise<Date | undefined> {
  const { pool, clock } = deps;
  if (!(await isOpen(pool, workspaceId))) return new Date(clock().getTime() + suspendedMs);
  const { nextEnd } = await settleAds(deps, workspaceId, sourceId);
  const source = await findResource(pool, workspaceId, 'demand_sources', sourceId);
  if (source?.lifecycle_state !== 'active') await removeReadMedia(deps, workspaceId, sourceId);
  return nextEnd;
}

/** One round: settles the ads of sources that are due for it, and asks nobody. True when there may be more. */
export async function settleDueSources(deps: Deps, onError: (error: Error) => void): Promise<boolean> {
  const now = deps.clock();
  const until = new Date(now.getTime() + againMs);
  const due = await claimUnsettled(deps.pool, now, until, batchSize);
  await Promise.all(
    due.map(async (one) => {
      try {
        await finishSettlement(deps.pool, one.sourceId, until, await settle(deps, one));
      } catch (error) {
        if (!isProblem(error, ...raceCodes))
          onError(new Error(`ads of demand source ${one.sourceId} were not settled`, { cause: error }));
      }
    }),
  );
  return due.length === batchSize;
}
