import type { NodeLease } from '../grants.ts';

/** A lease as its row and its node have it. */
export interface SimulatedLease {
  granted: number;
  used: number;
  ratePerS: number;
  burst: number;
  level: number;
  levelAtMs: number;
}

/** A process of internal-serving. */
export interface SimulatedNode {
  epoch: number;
  readonly weight: number;
  /** It gives nothing until then. */
  downUntilMs: number;
  /** It does not read the rows until then, and the rows are closed. */
  pausedUntilMs: number;
  leases: Map<string, SimulatedLease>;
  asked: Map<string, number>;
}

export function newNode(epoch: number, weight: number): SimulatedNode {
  return { epoch, weight, downUntilMs: 0, pausedUntilMs: 0, leases: new Map(), asked: new Map() };
}

/** Slots that a node may give of a line item now: what the lease has left, within its bucket. */
export function creditOf(lease: SimulatedLease | undefined, atMs: number): number {
  if (!lease) return 0;
  lease.level = Math.min(lease.burst, lease.level + (lease.ratePerS * (atMs - lease.levelAtMs)) / 1000);
  lease.levelAtMs = atMs;
  return Math.max(0, Math.floor(Math.min(lease.granted - lease.used, lease.level + 1e-6)));
}

/** Changes a lease as the pacer's statement and the node's next read do. */
export function grantTo(
  node: SimulatedNode,
  lineItemId: string,
  granted: number,
  bucket: { readonly ratePerS: number; readonly burst: number },
  atMs: number,
): void {
  const lease = node.leases.get(lineItemId);
  if (!lease) {
    node.leases.set(lineItemId, { granted, used: 0, ...bucket, level: bucket.burst, levelAtMs: atMs });
    return;
  }
  creditOf(lease, atMs);
  lease.level = (lease.level * bucket.burst) / lease.burst;
  Object.assign(lease, { granted: Math.max(lease.used, granted), ...bucket });
}

export const leaseOf = (node: SimulatedNode, lineItemId: string, share: number): NodeLease => {
  const { granted = 0, used = 0 } = node.leases.get(lineItemId) ?? {};
  return { granted, used, share };
};
