/** Slots of a line item that a node was asked for since it began. */
interface NodeDemand {
  readonly nodeEpoch: number;
  readonly asked: number;
}

const halfLifeMs = 60_000;
/** Nodes without demand share so much, so that the first play there finds some. */
const idleShare = 0.02;
/** Demand that has faded so far is none. */
const leastWeight = 0.01;

/** Shares of a line item's demand by node. */
export interface NodeShares {
  /** Takes what nodes have reported so far; a node that is not named has nothing new. */
  report(demand: readonly NodeDemand[], atMs: number): void;
  /** The share of each node, which sum to 1: of the demand lately, or equal without any. Others are gone. */
  sharesOf(nodeEpochs: readonly number[]): readonly number[];
  /** Whether it was asked for at a node lately. */
  isAsked(nodeEpoch: number): boolean;
}

/** Exponentially weighted demand of nodes, with a half-life of a minute. */
export function createNodeShares(): NodeShares {
  const nodes = new Map<number, { asked: number; weight: number }>();
  let reportedAtMs: number | undefined;
  return {
    report(demand, atMs) {
      const fade = reportedAtMs === undefined ? 1 : 0.5 ** (Math.max(0, atMs - reportedAtMs) / halfLifeMs);
      reportedAtMs = atMs;
      if (fade !== 1) for (const node of nodes.values()) node.weight *= fade;
      for (const { nodeEpoch, asked } of demand) {
        const before = nodes.get(nodeEpoch);
        const more = Math.max(0, asked - (before?.asked ?? 0));
        nodes.set(nodeEpoch, { asked, weight: (before?.weight ?? 0) + more });
      }
    },
    sharesOf(nodeEpochs) {
      if (nodes.size > nodeEpochs.length)
        for (const nodeEpoch of nodes.keys()) if (!nodeEpochs.includes(nodeEpoch)) nodes.delete(nodeEpoch);
      const weights = nodeEpochs.map((nodeEpoch) => nodes.get(nodeEpoch)?.weight ?? 0);
      const sum = weights.reduce((all, weight) => all + weight, 0);
      const least = idleShare / nodeEpochs.length;
      return weights.map((weight) =>
        sum > 0 ? least + (1 - idleShare) * (weight / sum) : 1 / Math.max(1, nodeEpochs.length),
      );
    },
    isAsked: (nodeEpoch) => (nodes.get(nodeEpoch)?.weight ?? 0) > leastWeight,
  };
}
