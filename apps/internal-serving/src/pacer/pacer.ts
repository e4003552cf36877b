import { createLinePacer, type Curves, type LocalDays } from '@longwave/pacing';
import type { Pool, Session } from '@longwave/postgres';
import type { CurrentPlans } from '../plans/current-plans.ts';
import { changeMode } from './change-over.ts';
import type { CohortFollower } from './cohort-follower.ts';
import {
  closeLeases,
  lowerLeases,
  openLeases,
  raiseLeases,
  readServingState,
  type LeaseRow,
  type ServingState,
} from './lease-grant-table.ts';
import { listLinePacing, saveHours, saveLinePacing, type LinePacing } from './line-pacing-table.ts';
import {
  campaignBudgets,
  GivenRates,
  lowerings,
  raisings,
  withLowered,
  workspaceRates,
  type PacedLeases,
  type PlannedPacer,
} from './pace-lines.ts';
import { listPlanDigests, readPlans } from './pacing-plan-table.ts';

const hourMs = 3_600_000;
/** Line items that are new, planned anew or kept at a time. */
const batchSize = 500;
/** For so long a new pacer lowers no lease of a line item whose cohorts it has not read: to it more is committed than there is. */
const graceMs = 300_000;
/** A line item's row is written so often, besides when its urgency or state changes. */
const keepMs = 10_000;

export interface PacerDeps {
  readonly pool: Pool;
  readonly plans: Pick<CurrentPlans, 'listPaced' | 'isAwaited' | 'isReady'>;
  readonly cohorts: CohortFollower;
  /** Curves of returns by workspace and basis. */
  readonly curvesOf: (workspaceId: string, basis: string) => Curves;
  readonly countGoalSlots: (session: Pool | Session, ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly days: LocalDays;
  readonly clock: () => Date;
}

/** The pacer of all line items, under one term. A term that may be lost is given up with everything that it knew. */
export interface Pacer {
  /** One round; answers whether the next is to begin soon, as the mode changes. */
  tick(): Promise<boolean>;
  /** Reads cohorts and plans. Rejects when a service is away: what was known stands. */
  learn(): Promise<void>;
  /** Line items that it paces. */
  lines(): readonly PlannedPacer[];
}

interface Kept {
  readonly atMs: number;
  readonly state: string;
  readonly hourMs: number;
}

/** As it is to be kept. */
function rowOf(pacer: PlannedPacer): LinePacing {
  const { line } = pacer;
  const moment = pacer.moment();
  const { targetAtMs, day, ...kept } = pacer.keep();
  return {
    ...{ lineItemId: line.lineItemId, workspaceId: line.workspaceId, goal: line.goal, basis: line.basis },
    ...{ windowStartMs: line.windowStartMs, windowEndMs: line.windowEndMs, planDigest: pacer.planDigest() },
    ...{ deliveryRate: moment?.deliveryRate ?? 1, urgency: moment?.urgency ?? 0, state: moment?.state ?? 'learning' },
    ...{ campaignId: line.campaignId, unitPriceMicros: line.unitPriceMicros, pacingVersion: 0 },
    ...kept,
    day,
    updatedAtMs: targetAtMs ?? 0,
  };
}

/** @param term every statement names it */
export async function createPacer(term: number, deps: PacerDeps): Promise<Pacer> {
  const { pool, plans, cohorts, days, clock } = deps;
  const rows = new Map((await listLinePacing(pool)).map((row) => [row.lineItemId, row]));
  const inherited = new Set(rows.keys());
  const pacers = new Map<string, PlannedPacer>();
  const known = new Set<string>();
  const kept = new Map<string, Kept>();
  const settled = new Set<string>();
  const rates = new GivenRates();
  const beganMs = clock().getTime();

  /** Takes up line items of plans, and lets go of those that left; answers the ids of the latter whose leases may be closed. */
  async function follow(state: ServingState, nowMs: number): Promise<readonly string[]> {
    const planned = new Map(
      plans.listPaced().flatMap((line) => (line.windowEndMs > nowMs ? [[line.lineItemId, line]] : [])),
    );
    const fresh = [...planned.values()].filter(({ lineItemId }) => !pacers.has(lineItemId));
    const unseen = fresh.filter(({ lineItemId }) => !rows.has(lineItemId));
    for (let from = 0; from < unseen.length; from += batchSize) {
      const batch = unseen.slice(from, from + batchSize);
      const counts = await deps.countGoalSlots(
        pool,
        batch.map((line) => line.lineItemId),
      );
      const first = batch.map((line) => {
        const pacer = createLinePacer(line, { closedUsed: counts.get(line.lineItemId) ?? 0 }, days);
        return rowOf(pacer);
      });
      await saveLinePacing(pool, term, first);
      for (const row of first) rows.set(row.lineItemId, row);
    }
    for (const line of fresh) {
      const row = rows.get(line.lineItemId)!;
      pacers.set(
        line.lineItemId,
        createLinePacer(
          line,
          { ...row, ...(row.updatedAtMs === 0 ? { target: undefined } : { targetAtMs: row.updatedAtMs }) },
          days,
        ),
      );
    }
    for (const [lineItemId, pacer] of pacers) {
      const line = planned.get(lineItemId);
      if (line && line !== pacer.line) {
        if (line.basis !== pacer.line.basis) known.delete(lineItemId);
        pacer.replace(line);
      }
    }
    return letGo(state, planned, nowMs);
  }

  function letGo(state: ServingState, planned: ReadonlyMap<string, unknown>, nowMs: number): readonly string[] {
    const left: string[] = [];
    for (const lineItemId of new Set([...state.leases.keys(), ...pacers.keys()])) {
      if (planned.has(lineItemId)) continue;
      const workspaceId = pacers.get(lineItemId)?.line.workspaceId ?? rows.get(lineItemId)?.workspaceId;
      const hasEnded = (pacers.get(lineItemId)?.line.windowEndMs ?? Infinity) <= nowMs;
      // A plan that this node has not loaded says nothing of who left it.
      if (!hasEnded && (!plans.isReady() || (workspaceId !== undefined && plans.isAwaited(workspaceId)))) continue;
      left.push(lineItemId);
    }
    return left;
  }

  /** Closes what is to be closed, and counts what was used under it. */
  async function close(state: ServingState, left: readonly string[], nowMs: number): Promise<void> {
    const open = new Set([...state.live.map((node) => node.nodeEpoch), ...state.silent]);
    const holders = new Set([...state.leases.values()].flatMap((leases) => leases.map((lease) => lease.nodeEpoch)));
    const gone = [...holders].filter((nodeEpoch) => !open.has(nodeEpoch));
    const held = left.filter((lineItemId) => state.leases.has(lineItemId));
    if (state.silent.length > 0 || gone.length > 0 || held.length > 0) {
      const counts = await closeLeases(pool, term, { silent: state.silent, gone, lineItemIds: held });
      for (const [lineItemId, closedUsed] of counts) setClosed(lineItemId, closedUsed);
    }
    const ended = left.flatMap((lineItemId) => {
      const pacer = pacers.get(lineItemId);
      if (!pacer) return [];
      pacers.delete(lineItemId);
      known.delete(lineItemId);
      pacer.tick({ atMs: nowMs, usedOpen: 0, budget: Infinity, ratePrior: undefined });
      return [{ ...rowOf(pacer), state: 'ended' }];
    });
    for (const row of ended) rows.set(row.lineItemId, row);
    for (let from = 0; from < ended.length; from += batchSize)
      await saveLinePacing(pool, term, ended.slice(from, from + batchSize));
  }

  function setClosed(lineItemId: string, closedUsed: number): void {
    const pacer = pacers.get(lineItemId);
    if (pacer) pacer.closedUsed = closedUsed;
    const row = rows.get(lineItemId);
    if (row) rows.set(lineItemId, { ...row, closedUsed });
  }

  /** Whether another pacer knew more of it than this one does yet. */
  const isUnread = ({ line }: PlannedPacer, nowMs: number) =>
    nowMs - beganMs < graceMs &&
    line.basis !== 'reserved' &&
    inherited.has(line.lineItemId) &&
    !settled.has(line.lineItemId);

  function pace(state: ServingState, nowMs: number): readonly PlannedPacer[] {
    const rates = workspaceRates(pacers.values());
    const budgets = campaignBudgets(pacers.values(), spentLines());
    const due: PlannedPacer[] = [];
    for (const pacer of pacers.values()) {
      const { lineItemId, workspaceId, campaignId, windowStartMs } = pacer.line;
      if (windowStartMs > nowMs) continue;
      const demand = state.live.flatMap(({ nodeEpoch, asked }) => {
        const slots = asked.get(lineItemId);
        return slots === undefined ? [] : [{ nodeEpoch, asked: slots }];
      });
      pacer.shares.report(demand, nowMs);
      const usedOpen = (state.leases.get(lineItemId) ?? []).reduce((sum, lease) => sum + lease.used, 0);
      const budget = budgets.get(campaignId)?.units.get(lineItemId) ?? Infinity;
      pacer.tick({ atMs: nowMs, usedOpen, budget, ratePrior: rates.get(workspaceId) });
      due.push(pacer);
    }
    return due;
  }

  /** What line items that left their plans committed of the budget of a campaign. */
  const spentLines = () =>
    [...rows.values()].flatMap((row: LinePacing) =>
      row.campaignId === undefined || row.unitPriceMicros === 0 || pacers.has(row.lineItemId)
        ? []
        : [{ campaignId: row.campaignId, priceMicros: row.unitPriceMicros, committed: row.committed }],
    );

  /** Lowers first and counts what the rows say, then raises: the leases of a line item never have more than its bound. */
  async function grant(state: ServingState, due: readonly PlannedPacer[], nowMs: number): Promise<void> {
    const live = state.live;
    const lines = due.map((pacer) => lowerings(pacer, live, state.leases.get(pacer.line.lineItemId) ?? []));
    const grants = lines.flatMap((line) => (isUnread(line.paced.pacer, nowMs) ? [] : line.grants));
    const lowered = new Map<string, LeaseRow[]>();
    if (grants.length > 0)
      for (const row of await lowerLeases(pool, term, grants))
        lowered.set(row.lineItemId, [...(lowered.get(row.lineItemId) ?? []), row]);
    const after: readonly PacedLeases[] = lines.map(({ paced }) =>
      withLowered(paced, lowered.get(paced.pacer.line.lineItemId) ?? []),
    );
    const { raise, open } = raisings(after, campaignBudgets(pacers.values(), spentLines()), rates);
    if (raise.length > 0) await raiseLeases(pool, term, raise);
    if (open.length > 0) await openLeases(pool, term, open);
    for (const given of [grants, raise, open]) rates.put(given);
    rates.keep(live);
  }

  /** Keeps what changed, for the next pacer, for nodes and for those who look. */
  async function keep(state: ServingState, due: readonly PlannedPacer[], nowMs: number): Promise<void> {
    const hour = Math.floor(nowMs / hourMs) * hourMs;
    const changed = due
      .filter((pacer) => {
        const before = kept.get(pacer.line.lineItemId);
        const moment = pacer.moment()!;
        return (
          !before ||
          before.hourMs !== hour ||
          before.state !== `${moment.state}${moment.urgency}` ||
          nowMs - before.atMs >= keepMs
        );
      })
      .slice(0, batchSize);
    const lineRows = changed.map((pacer) => rowOf(pacer));
    await saveLinePacing(pool, term, lineRows);
    await saveHours(
      pool,
      term,
      changed.map((pacer, at) => {
        const leases = state.leases.get(pacer.line.lineItemId) ?? [];
        const row = lineRows[at]!;
        const granted = pacer.closedUsed + leases.reduce((sum, lease) => sum + lease.granted, 0);
        return { ...row, hourMs: hour, granted, shortBy: pacer.moment()!.shortBy };
      }),
    );
    changed.forEach((pacer, at) => {
      const { state: word, urgency } = pacer.moment()!;
      rows.set(pacer.line.lineItemId, { ...rows.get(pacer.line.lineItemId)!, ...lineRows[at]! });
      kept.set(pacer.line.lineItemId, { atMs: nowMs, state: `${word}${urgency}`, hourMs: hour });
    });
  }

  /** Leases are closed once no node uses them, then the mode follows. */
  async function changeOver(state: ServingState, nowMs: number): Promise<void> {
    if (state.silent.length > 0) await close(state, [], nowMs);
    if (state.live.some((node) => node.mode !== 'none')) return;
    if (state.leases.size > 0) await close(state, [...state.leases.keys()], nowMs);
    if (!(await changeMode(pool, term, deps.countGoalSlots))) return;
    for (const row of await listLinePacing(pool)) {
      rows.set(row.lineItemId, row);
      setClosed(row.lineItemId, row.closedUsed);
    }
  }

  return {
    lines: () => [...pacers.values()],

    async tick() {
      const nowMs = clock().getTime();
      const state = await readServingState(pool);
      if (state.mode !== state.wanted) {
        await changeOver(state, nowMs);
        return true;
      }
      if (state.mode === 'guard') {
        await close(state, [], nowMs);
        return false;
      }
      const left = await follow(state, nowMs);
      await close(state, left, nowMs);
      const due = pace(state, nowMs);
      await grant(state, due, nowMs);
      await keep(state, due, nowMs);
      return false;
    },

    async learn() {
      const nowMs = clock().getTime();
      const next = await listPlanDigests(pool);
      const stale = [...pacers.values()].filter(({ line, planDigest }) => next.get(line.lineItemId) !== planDigest());
      for (let from = 0; from < stale.length; from += batchSize) {
        const batch = stale.slice(from, from + batchSize);
        const found = new Map(
          (
            await readPlans(
              pool,
              batch.map((pacer) => pacer.line.lineItemId),
            )
          ).map((plan) => [plan.lineItemId, plan]),
        );
        for (const pacer of batch) pacer.setPlan(found.get(pacer.line.lineItemId));
      }
      const followed = [...pacers.values()].filter(({ line }) => line.basis !== 'reserved');
      await cohorts.read(
        followed.map(({ line }) => ({ ...line, isKnown: known.has(line.lineItemId) })),
        nowMs,
        (answer) => {
          for (const cohort of answer.cohorts) pacers.get(cohort.lineItemId)?.putCohorts([cohort]);
          for (const lineItemId of answer.lineItemIds) known.add(lineItemId);
        },
      );
      for (const pacer of followed) {
        pacer.settle(cohorts.watermarkMs(), deps.curvesOf(pacer.line.workspaceId, pacer.line.basis));
        if (known.has(pacer.line.lineItemId)) settled.add(pacer.line.lineItemId);
      }
    },
  };
}
