import type { Tables } from './simulated-tables.ts';

/** A lease as its node has it in memory. */
interface Credit {
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
  /** How far its clock is off. */
  readonly skewMs: number;
  /** It was killed, and another process begins then. */
  downUntilMs: number;
  /** It is stopped until then, with all that it believes. */
  pausedUntilMs: number;
  readonly credits: Map<string, Credit>;
  readonly asked: Map<string, number>;
}

export function newNode(tables: Tables, atMs: number, { weight, skewMs }: Pick<SimulatedNode, 'weight' | 'skewMs'>) {
  const epoch = tables.register(atMs);
  return { epoch, weight, skewMs, downUntilMs: 0, pausedUntilMs: 0, credits: new Map(), asked: new Map() };
}

/** Slots that a node may give of a line item now, as far as it knows: what the lease has left, within its bucket. */
export function creditOf(node: SimulatedNode, lineItemId: string, atMs: number): number {
  const credit = node.credits.get(lineItemId);
  if (!credit) return 0;
  credit.level = Math.min(credit.burst, credit.level + (credit.ratePerS * (atMs - credit.levelAtMs)) / 1000);
  credit.levelAtMs = atMs;
  return Math.max(0, Math.floor(Math.min(credit.granted - credit.used, credit.level + 1e-6)));
}

export function spend(node: SimulatedNode, lineItemId: string): void {
  const credit = node.credits.get(lineItemId)!;
  credit.used++;
  credit.level--;
}

/** A decision was refused: the node gives nothing of the line item until it has read its leases. */
export function loseCredit(node: SimulatedNode, lineItemId: string): void {
  const credit = node.credits.get(lineItemId);
  if (credit) credit.granted = credit.used;
}

/** Reads the rows of a node's leases. */
export function readLeases(tables: Tables, node: SimulatedNode, lineItemIds: readonly string[], atMs: number): void {
  for (const lineItemId of lineItemIds) {
    const row = tables.rowsOf(lineItemId).get(node.epoch);
    if (!row) continue;
    const { granted, used, ratePerS, burst } = row;
    const credit = node.credits.get(lineItemId);
    if (!credit) {
      node.credits.set(lineItemId, { granted, used, ratePerS, burst, level: burst, levelAtMs: atMs });
      continue;
    }
    creditOf(node, lineItemId, atMs);
    credit.level = (credit.level * burst) / credit.burst;
    Object.assign(credit, { granted, used, ratePerS, burst });
  }
}
