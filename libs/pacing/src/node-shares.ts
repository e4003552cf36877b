/** Slots of a line item that a node was asked for since it began. */
export interface NodeDemand {
  readonly nodeEpoch: string;
  readonly asked: number;
}

const halfLifeMs = 60_000;
/** Nodes without demand share so much, so that the first play there finds some. */
const idleShare = 0.02;

/** Shares of a line item's demand by node. */
export interface NodeShares {
  /** Takes what nodes have reported so far; a node that is not named is gone. */
  report(demand: readonly NodeDemand[], atMs: number): void;
  /** The share of each node, which sum to 1: of the demand lately, or equal without any. */
  sharesOf(nodeEpochs: readonly string[]): readonly number[];
}

/** Exponentially weighted demand of nodes, with a half-life of a minute. */
export function createNodeShares(): NodeShares {
  let nodes = new Map<string, { asked: number; weight: number }>();
  let reportedAtMs: number | undefined;
  return {
    report(demand, atMs) {
      const fade = reportedAtMs === undefined ? 1 : 0.5 ** (Math.max(0, atMs - reportedAtMs) / halfLifeMs);
      reportedAtMs = atMs;
      nodes = new Map(
        demand.map(({ nodeEpoch, asked }) => {
          const before = nodes.get(nodeEpoch);
          const more = Math.max(0, asked - (before?.asked ?? 0));
          return [nodeEpoch, { asked, weight: (before?.weight ?? 0) * fade + more }];
        }),
      );
    },
    sharesOf(nodeEpochs) {
      const weights = nodeEpochs.map((nodeEpoch) => nodes.get(nodeEpoch)?.weight ?? 0);
      const sum = weights.reduce((all, weight) => all + weight, 0);
      const least = idleShare / nodeEpochs.length;
      return weights.map((weight) =>
        sum > 0 ? least + (1 - idleShare) * (weight / sum) : 1 / Math.max(1, nodeEpochs.length),
      );
    },
  };
}
