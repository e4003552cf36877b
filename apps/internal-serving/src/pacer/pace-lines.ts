import {
  affordableUnits,
  bucketOf,
  isStaleRate,
  budgetUnits,
  costMicros,
  lowerGrants,
  raiseGrants,
  type LinePacer,
  type NodeLease,
  type RatePrior,
} from '@longwave/pacing';
import type { Grant, LeaseRow, LiveNode } from './lease-grant-table.ts';
import type { LinePacing } from './line-pacing-table.ts';
import type { PlannedLine } from '../plans/paced-lines.ts';

/** The pacer of one line item of a plan. */
export type PlannedPacer = LinePacer<PlannedLine>;

/** A line item that is paced. */
export interface PacedEntry {
  readonly pacer: PlannedPacer;
  /** Whether an answer had all its cohorts. */
  isKnown: boolean;
  /** Whether they were summed once. */
  isSettled: boolean;
  /** Whether its goal is lower than it was when its leases were granted. */
  isReduced: boolean;
  /** What was kept of it last, and when. */
  kept?: { readonly row: LinePacing; readonly atMs: number; readonly hourMs: number };
}

/** A node in a line item's tick: its lease, if there is one, and its share of the demand. */
interface NodeOfLine extends NodeLease {
  readonly nodeEpoch: number;
  readonly hasLease: boolean;
}

/** A line item between lowering and raising. */
export interface PacedLeases {
  readonly pacer: PlannedPacer;
  /** Whether it was asked for lately. */
  readonly isActive: boolean;
  readonly nodes: readonly NodeOfLine[];
}

/** The nodes that live, and the place of each. */
export interface LiveEpochs {
  readonly epochs: readonly number[];
  readonly places: ReadonlyMap<number, number>;
}

export function liveEpochs(live: readonly LiveNode[]): LiveEpochs {
  const epochs = live.map(({ nodeEpoch }) => nodeEpoch);
  return { epochs, places: new Map(epochs.map((nodeEpoch, at) => [nodeEpoch, at])) };
}

function sumOf(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Nodes of a line item: those that live, and those whose leases are still to be closed. */
function nodesOf(pacer: PlannedPacer, live: LiveEpochs, leases: readonly LeaseRow[]): readonly NodeOfLine[] {
  const shares = pacer.shares.sharesOf(live.epochs);
  const nodes: NodeOfLine[] = live.epochs.map((nodeEpoch, at) => ({
    ...{ nodeEpoch, granted: 0, used: 0 },
    ...{ share: shares[at]!, hasLease: false },
  }));
  for (const { nodeEpoch, granted, used } of leases) {
    const at = live.places.get(nodeEpoch);
    if (at === undefined) nodes.push({ nodeEpoch, granted, used, share: 0, hasLease: true });
    else nodes[at] = { nodeEpoch, granted, used, share: shares[at]!, hasLease: true };
  }
  return nodes;
}

/** Per workspace, confirmed and decided servings older than a day, as a belief of a hundred servings. */
export function workspaceRates(pacers: Iterable<PlannedPacer>): ReadonlyMap<string, RatePrior> {
  const sums = new Map<string, { decided: number; confirmed: number }>();
  for (const pacer of pacers) {
    if (pacer.line.basis === 'reserved') continue;
    const sum = sums.get(pacer.line.workspaceId) ?? { decided: 0, confirmed: 0 };
    const { settledDecided, settledConfirmed } = pacer.sums();
    sum.decided += settledDecided;
    sum.confirmed += settledConfirmed;
    sums.set(pacer.line.workspaceId, sum);
  }
  return new Map(
    [...sums]
      .filter(([, { decided }]) => decided >= 100)
      .map(([workspaceId, { decided, confirmed }]) => [workspaceId, { share: confirmed / decided, servings: 100 }]),
  );
}

/** A campaign with a budget: what its open line items may reach, and what it may still grant in money. */
export interface CampaignBudget {
  readonly budgetMicros: number;
  readonly units: ReadonlyMap<string, number>;
  readonly spentMicros: number;
  /** Everything that its line items have committed, those included that have left their plans. */
  readonly committedMicros: number;
}

/**
 * The budgets of the campaigns of these line items, which are all that each of them has.
 * @param spentMicrosOf what the committed units of line items that have left cost, by campaign
 */
export function campaignBudgets(
  pacers: Iterable<PlannedPacer>,
  spentMicrosOf: (campaignId: string) => number,
): ReadonlyMap<string, CampaignBudget> {
  const campaigns = new Map<string, PlannedPacer[]>();
  for (const pacer of pacers) {
    if (pacer.line.campaignBudgetMicros === undefined) continue;
    const others = campaigns.get(pacer.line.campaignId);
    if (others) others.push(pacer);
    else campaigns.set(pacer.line.campaignId, [pacer]);
  }
  return new Map(
    [...campaigns].map(([campaignId, open]) => {
      const spentMicros = spentMicrosOf(campaignId);
      const lines = open.map((pacer) => ({
        ...{ priceMicros: pacer.line.unitPriceMicros, goal: pacer.line.goal },
        ...{ committed: pacer.committed(), committedMicros: pacer.committedMicros() },
      }));
      const budgetMicros = Math.min(...open.map((pacer) => pacer.line.campaignBudgetMicros!));
      const units = budgetUnits(budgetMicros - spentMicros, lines);
      const byLine = new Map(open.map((pacer, at) => [pacer.line.lineItemId, units[at]!]));
      const committedMicros = spentMicros + sumOf(lines.map((one) => one.committedMicros));
      return [campaignId, { budgetMicros, units: byLine, spentMicros, committedMicros }] as const;
    }),
  );
}

/** What a line item's leases and what it committed cost at most. */
function heldMicros({ pacer, nodes }: PacedLeases): number {
  const open = sumOf(nodes.map(({ granted, used }) => granted - used));
  return pacer.committedMicros() + costMicros(open, pacer.line.unitPriceMicros);
}

const changeOf = ({ pacer, nodes }: PacedLeases, at: number, granted: number): Grant => {
  const node = nodes[at]!;
  const bucket = bucketOf(pacer.moment()!.quota, node.share);
  return { nodeEpoch: node.nodeEpoch, lineItemId: pacer.line.lineItemId, known: node.granted, granted, ...bucket };
};

const boundsOf = ({ pacer, nodes }: PacedLeases) => {
  const { maxGranted, quota } = pacer.moment()!;
  return { maxGranted, quota: quota.units, leases: nodes };
};

/** The leases of a line item that are to be lowered. */
export function lowerings(
  line: Pick<PacedLeases, 'pacer' | 'isActive'>,
  live: LiveEpochs,
  leases: readonly LeaseRow[],
): { readonly paced: PacedLeases; readonly grants: readonly Grant[] } {
  const { pacer, isActive } = line;
  const paced = { pacer, isActive, nodes: nodesOf(pacer, live, leases) };
  const grants = lowerGrants(boundsOf(paced)).flatMap((to, at) => (to === undefined ? [] : [changeOf(paced, at, to)]));
  return { paced, grants };
}

/** The same with the rows as they are after lowering. */
export const withLowered = (line: PacedLeases, lowered: readonly LeaseRow[] | undefined): PacedLeases =>
  lowered === undefined
    ? line
    : {
        ...line,
        nodes: line.nodes.map((node) => ({ ...node, ...lowered.find((row) => row.nodeEpoch === node.nodeEpoch) })),
      };

/** A lease that does not exist yet. */
export interface Opening extends Grant {
  readonly workspaceId: string;
  /** Whether the line item is asked for at that node. */
  readonly isAsked: boolean;
}

interface Raisings {
  readonly raise: readonly Grant[];
  readonly open: readonly Opening[];
}

/** The rates that leases were given, by node and line item, as far as this pacer knows. */
export class GivenRates {
  readonly #nodes = new Map<number, Map<string, number>>();

  get(nodeEpoch: number, lineItemId: string): number | undefined {
    return this.#nodes.get(nodeEpoch)?.get(lineItemId);
  }

  put(grants: readonly Grant[]): void {
    for (const { nodeEpoch, lineItemId, ratePerS } of grants) {
      const rates = this.#nodes.get(nodeEpoch) ?? new Map<string, number>();
      this.#nodes.set(nodeEpoch, rates.set(lineItemId, ratePerS));
    }
  }

  /** Forgets nodes that are gone. */
  keep(live: readonly LiveNode[]): void {
    const epochs = new Set(live.map((node) => node.nodeEpoch));
    for (const nodeEpoch of this.#nodes.keys()) if (!epochs.has(nodeEpoch)) this.#nodes.delete(nodeEpoch);
  }
}

/** Collects raisings of line items, one after another. */
export interface RaisingLines extends Raisings {
  add(line: PacedLeases): void;
}

/**
 * The leases that are to be raised and opened, and those whose buckets fill at another rate; those of campaigns with a budget together never
 * beyond it. A line item that nobody asks for keeps its rates.
 * @param lines all that will be added
 */
export function raisings(
  lines: readonly PacedLeases[],
  budgets: ReadonlyMap<string, CampaignBudget>,
  rates: Pick<GivenRates, 'get'>,
): RaisingLines {
  const roomMicros = new Map(
    [...budgets].map(([id, { budgetMicros, spentMicros }]) => [id, budgetMicros - spentMicros]),
  );
  const isLimited = ({ pacer }: PacedLeases) =>
    pacer.line.campaignBudgetMicros !== undefined && pacer.line.unitPriceMicros > 0;
  for (const line of lines) {
    const { campaignId } = line.pacer.line;
    const room = roomMicros.get(campaignId);
    if (room !== undefined) roomMicros.set(campaignId, room - heldMicros(line));
  }
  const raise: Grant[] = [];
  const open: Opening[] = [];

  function refill(line: PacedLeases, at: number): void {
    const { nodeEpoch, hasLease, share, granted } = line.nodes[at]!;
    if (!hasLease || share === 0 || !line.isActive) return;
    const change = changeOf(line, at, granted);
    if (isStaleRate(rates.get(nodeEpoch, change.lineItemId), change.ratePerS)) raise.push(change);
  }

  function add(line: PacedLeases): void {
    const { pacer, nodes } = line;
    const bounds = boundsOf(line);
    const { campaignId, unitPriceMicros, workspaceId } = pacer.line;
    const granted = sumOf(nodes.map((node) => node.granted));
    const affordable = isLimited(line)
      ? granted + affordableUnits(roomMicros.get(campaignId)!, unitPriceMicros)
      : Infinity;
    let more = 0;
    raiseGrants({ ...bounds, maxGranted: Math.min(bounds.maxGranted, affordable) }).forEach((to, at) => {
      if (to === undefined) return refill(line, at);
      more += to - nodes[at]!.granted;
      const change = changeOf(line, at, to);
      if (nodes[at]!.hasLease) raise.push(change);
      else open.push({ ...change, workspaceId, isAsked: line.isActive && pacer.shares.isAsked(change.nodeEpoch) });
    });
    if (isLimited(line)) roomMicros.set(campaignId, roomMicros.get(campaignId)! - costMicros(more, unitPriceMicros));
  }

  return { raise, open, add };
}
