import { curveAgesMs, measureCurve, type AgedServings, type Curves, type SurfaceClass } from '@longwave/pacing';
import type { RpcClient } from '@longwave/rpc';
import type { BasisAges, CohortServiceService } from '@longwave/rpc/audience';

export type AgeClient = Pick<RpcClient<typeof CohortServiceService>, 'readAges'>;

const callMs = 30_000;
/** Curves are measured anew so often, and after a failure so often. */
const refreshMs = 86_400_000;
const retryMs = 600_000;
const classes: readonly SurfaceClass[] = ['stream', 'download'];

/** Curves of returns as they were measured. */
export interface ReturnCurves {
  /** Of a workspace's servings in a basis; a class without a curve was measured too little, or not yet. */
  curvesOf(workspaceId: string, basis: string): Curves;
  /** Measures them, once a day. Rejects when analytics-sink does not answer: then the last ones stand. */
  refresh(nowMs: number): Promise<void>;
}

type CurvesByKey = ReadonlyMap<string, Curves>;

const keyOf = (workspaceId: string, basis: string) => `${workspaceId} ${basis}`;

/** What servings had reached at each age but the horizon. */
function agedOf({ decided, reached }: Pick<BasisAges, 'decided' | 'reached'>): readonly AgedServings[] {
  const confirmedAtHorizon = Number(reached.at(-1) ?? 0n);
  return reached
    .slice(0, -1)
    .map((confirmed) => ({ decided: Number(decided), confirmed: Number(confirmed), confirmedAtHorizon }));
}

const added = (one: readonly AgedServings[], other: readonly AgedServings[]): readonly AgedServings[] =>
  one.map((servings, at) => ({
    decided: servings.decided + other[at]!.decided,
    confirmed: servings.confirmed + other[at]!.confirmed,
    confirmedAtHorizon: servings.confirmedAtHorizon + other[at]!.confirmedAtHorizon,
  }));

/** Measures how late servings are confirmed, in each workspace and in all of the installation. */
export function createReturnCurves(client: AgeClient): ReturnCurves {
  let curves: CurvesByKey = new Map();
  let nextMs = -Infinity;

  async function readClass(surfaceClass: SurfaceClass) {
    const agesMs = curveAgesMs[surfaceClass].map(BigInt);
    const workspaces: { workspaceId: string; basis: string; aged: readonly AgedServings[] }[] = [];
    const network = new Map<string, readonly AgedServings[]>();
    for (let afterWorkspaceId = ''; ;) {
      const answer = await client.readAges({ surfaceClass, agesMs, afterWorkspaceId }, { deadlineMs: callMs });
      if (answer.workspaceId === '') return { workspaces, network };
      afterWorkspaceId = answer.workspaceId;
      for (const ages of answer.bases) {
        const [basis, aged] = [ages.countingBasis, agedOf(ages)];
        workspaces.push({ workspaceId: answer.workspaceId, basis, aged });
        const all = network.get(basis);
        network.set(basis, all ? added(all, aged) : aged);
      }
    }
  }

  return {
    curvesOf: (workspaceId, basis) => curves.get(keyOf(workspaceId, basis)) ?? {},

    async refresh(nowMs) {
      if (nowMs < nextMs) return;
      nextMs = nowMs + retryMs;
      const measured = new Map<string, Curves>();
      for (const surfaceClass of classes) {
        const { workspaces, network } = await readClass(surfaceClass);
        for (const { workspaceId, basis, aged } of workspaces) {
          const key = keyOf(workspaceId, basis);
          const curve = measureCurve(aged, measureCurve(network.get(basis)!));
          measured.set(key, { ...measured.get(key), [surfaceClass]: curve });
        }
      }
      curves = measured;
      nextMs = nowMs + refreshMs;
    },
  };
}
