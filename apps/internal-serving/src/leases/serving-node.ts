import type { Pool } from '@longwave/postgres';
import { pollLoop, sleep } from '@longwave/worker-kit';
import { noCounting, type GoalCounting } from '../goals/goal-counting.ts';
import type { GoalCredit } from '../goals/goal-credit.ts';
import { createLeaseCredits } from './lease-credits.ts';
import { giveBackLeases, readLeases, readUrgencies } from './lease-table.ts';
import { createLineDemands, type LineDemands } from './line-demand.ts';
import { createCurrentMode, nextNodeMode, type NodeMode } from './node-mode.ts';
import { createPlanCredit, type PlanCredit } from './plan-credit.ts';
import { createReportWaiters } from './report-waiters.ts';
import { registerNode, reportEnd, reportNode } from './serving-node-table.ts';

/** How this release speaks with the pacer, in `serving_node.version`. */
const protocolVersion = '1';
const reportEveryMs = 1_000;
/** While the mode changes goals do not serve, and those of new plans wait for their first leases: nodes look more often then. */
const followEveryMs = 100;
/** For so long a node looks more often once it has a new plan: a pacer elsewhere may read it a second later. */
const hastyMs = 2_000;

/** A line item falls behind its plan in minutes, not in seconds. */
const readUrgenciesMs = 5_000;

/** A decision on its way, with what counts its goals. */
export interface OpenDecision extends Disposable {
  readonly mode: NodeMode;
  readonly goals: GoalCounting;
  /** Absent: each line item is asked for. */
  readonly credit?: GoalCredit | undefined;
  /** 0 while this node is not registered. */
  readonly nodeEpoch: number;
}

export interface ServingNode extends AsyncDisposable {
  /** Begins a decision; it keeps its mode until it is disposed. */
  begin(): OpenDecision;
  /** What its decisions count goals by now. */
  mode(): NodeMode;
  /** A plan is new here: the next reports follow each other quickly, as its leases are about to come. */
  hasten(): void;
  /** Resolves once there is a first lease. Resolves too when the time is over. */
  awaitGrants(atMostMs: number): Promise<void>;
  /**
   * Resolves once each of these line items has a lease; at once while leases do not count here. Resolves too when the time is over or the
   * signal is aborted. Reports follow each other quickly meanwhile.
   */
  awaitLeases(lineItemIds: readonly string[], atMostMs: number, signal: AbortSignal): Promise<void>;
}

export interface ServingNodeOptions {
  /** Of this process, for people. */
  readonly name: string;
  readonly monotonicMs: () => number;
  /** Receives the error of each report that failed. */
  readonly onError: (error: unknown) => void;
}

const goalCreditOf = (plans: PlanCredit, demands: LineDemands): GoalCredit => ({
  creditOf: plans.creditOf,
  remainingOf: plans.remainingOf,
  urgencyOf: plans.urgencyOf,
  addAsked: (index, decisionId, { verdicts }) => demands.addAsked(index, decisionId, verdicts),
});

/** Where it fails, the pacer closes the leases when the node has been silent for long enough. */
async function endNode(pool: Pool, nodeEpoch: number): Promise<void> {
  await giveBackLeases(pool, nodeEpoch);
  await reportEnd(pool, nodeEpoch);
}

/**
 * This process as the pacer sees it (docs/pacing.md): it registers, reports each second that it lives, what was asked for and by what it
 * counts goals, and reads its leases. When it is disposed, it gives them back, once; no decision may be on its way then.
 */
export function createServingNode(pool: Pool, { name, monotonicMs, onError }: ServingNodeOptions): ServingNode {
  const demands = createLineDemands(monotonicMs);
  const credits = createLeaseCredits({
    monotonicMs,
    onUsed: (lineItemId, slots) => demands.addUsed(lineItemId, slots),
    onExhausted: (lineItemId) => plans.exhaust(lineItemId),
  });
  const plans = createPlanCredit(credits, monotonicMs);
  const credit = goalCreditOf(plans, demands);
  const current = createCurrentMode();
  const countings: Readonly<Record<NodeMode, GoalCounting>> = { lease: credits, none: noCounting };
  const waiters = createReportWaiters();
  let nodeEpoch: number | undefined;
  let revisedAt = new Date(0);
  let [urgenciesAtMs, hastyUntilMs] = [-Infinity, -Infinity];
  let pause = new AbortController();

  /** From here on the leases of this epoch are read from the first. */
  function beginLeases(epoch: number | undefined): void {
    nodeEpoch = epoch;
    credits.begin(epoch);
    revisedAt = new Date(0);
  }

  async function register(): Promise<number> {
    const epoch = await registerNode(pool, name, protocolVersion);
    demands.clear();
    beginLeases(epoch);
    return epoch;
  }

  /** Another node may have its place already: nothing is counted until this one is registered again. */
  async function leave(): Promise<void> {
    beginLeases(undefined);
    await current.change('none');
  }

  async function readNewLeases(epoch: number): Promise<void> {
    const read = credits.startRead();
    const rows = await readLeases(pool, epoch, revisedAt, read.lineItemIds);
    read.apply(rows.leases);
    if (rows.revisedAt && rows.revisedAt > revisedAt) revisedAt = rows.revisedAt;
    if (monotonicMs() < urgenciesAtMs + readUrgenciesMs) return;
    plans.setUrgencies(await readUrgencies(pool));
    urgenciesAtMs = monotonicMs();
  }

  /** The row says what this node counts by before it does, and no longer before it has stopped. */
  async function follow(epoch: number, next: NodeMode): Promise<void> {
    if (next === 'none') await current.change(next);
    const row = await reportNode(pool, { nodeEpoch: epoch, mode: next, demand: demands.report() });
    if (!row) return leave();
    if (next === 'none' || nextNodeMode(row) !== next) return;
    // The pacer changed them while this node did not read them.
    beginLeases(epoch);
    await readNewLeases(epoch);
    await current.change(next);
  }

  async function report(): Promise<void> {
    const epoch = nodeEpoch ?? (await register());
    const row = await reportNode(pool, { nodeEpoch: epoch, mode: current.current(), demand: demands.report() });
    if (!row) return leave();
    const next = nextNodeMode(row);
    if (next !== current.current()) await follow(epoch, next);
    else if (next === 'lease') await readNewLeases(epoch);
    waiters.check();
  }

  function hasten(): void {
    hastyUntilMs = monotonicMs() + hastyMs;
    pause.abort();
    reporting.wake();
  }

  const reporting = pollLoop({
    everyMs: followEveryMs,
    run: async (signal) => {
      await report();
      if (current.current() === 'none' || monotonicMs() < hastyUntilMs) return;
      pause = new AbortController();
      await sleep(reportEveryMs - followEveryMs, AbortSignal.any([signal, pause.signal]));
    },
    onError,
  });

  async function end(): Promise<void> {
    await reporting[Symbol.asyncDispose]();
    if (nodeEpoch !== undefined) await endNode(pool, nodeEpoch).catch(onError);
  }

  let ending: Promise<void> | undefined;
  return {
    begin() {
      const decision = current.begin();
      return {
        mode: decision.mode,
        goals: countings[decision.mode],
        credit: decision.mode === 'lease' ? credit : undefined,
        nodeEpoch: nodeEpoch ?? 0,
        [Symbol.dispose]: () => decision[Symbol.dispose](),
      };
    },

    mode: () => current.current(),

    hasten,

    awaitGrants: (atMostMs) => waiters.until(() => credits.isGranted(), atMostMs),

    async awaitLeases(lineItemIds, atMostMs, signal) {
      const haveCome = () => current.current() !== 'lease' || lineItemIds.every((id) => credits.find(id));
      if (haveCome()) return;
      hasten();
      await waiters.until(haveCome, atMostMs, signal);
    },

    [Symbol.asyncDispose]: () => (ending ??= end()),
  };
}
