import { newId } from '@longwave/ids';
import type { DecideResponse } from '@longwave/rpc/serving';
import { startEngines, untilDecidedBy, type Engines, type Node } from './_support.ts';

/** Two nodes that serve the same workspaces. */
export interface TwoNodes extends AsyncDisposable {
  readonly engines: Engines;
  readonly nodes: [Node, Node];
  /** A new workspace whose plan both nodes use. */
  readonly workspaceWith: (lines: Parameters<Engines['publishPlan']>[1]) => Promise<string>;
}

/** Starts them on engines of their own. A node that a test ends and replaces in `nodes` is ended with the others. */
export async function startTwoNodes(leases?: Parameters<typeof startEngines>[0]): Promise<TwoNodes> {
  const engines = await startEngines(leases);
  const nodes: [Node, Node] = [await engines.startNode(), await engines.startNode()];
  return {
    engines,
    nodes,
    workspaceWith: async (lines) => {
      const workspaceId = newId('ws');
      const { servingPlanId } = await engines.publishPlan(workspaceId, lines);
      for (const node of nodes) await untilDecidedBy(node, workspaceId, servingPlanId);
      return workspaceId;
    },
    [Symbol.asyncDispose]: async () => {
      for (const node of nodes) await node[Symbol.asyncDispose]();
      await engines[Symbol.asyncDispose]();
    },
  };
}

/** How often answers serve a line item. */
export const slotsOf = (answers: readonly DecideResponse[], lineItemId: string) =>
  answers.flatMap((answer) => answer.picks).filter((pick) => pick.lineItemId === lineItemId).length;
