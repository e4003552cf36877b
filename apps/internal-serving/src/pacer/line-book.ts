import { createLinePacer, type LocalDays } from '@longwave/pacing';
import type { Pool, Session } from '@longwave/postgres';
import type { CurrentPlans } from '../plans/current-plans.ts';
import type { PlannedLine } from '../plans/paced-lines.ts';
import { createActivity, type Activity } from './activity.ts';
import type { LiveNode } from './lease-grant-table.ts';
import { listLinePacing, saveLinePacing, type LinePacing } from './line-pacing-table.ts';
import type { PacedEntry, PlannedPacer } from './pace-lines.ts';

/** Rows of line items that are read or written at a time. */
export const batchSize = 500;

export interface LineBookDeps {
  readonly pool: Pool;
  readonly plans: Pick<CurrentPlans, 'listPaced' | 'isOutdated' | 'isReady'>;
  readonly countGoalSlots: (session: Pool | Session, ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly countGoalSlotsSince: (
    pool: Pool,
    since: ReadonlyMap<string, number>,
  ) => Promise<ReadonlyMap<string, number>>;
  readonly days: LocalDays;
}

/** As it is to be kept. */
export function rowOf(pacer: PlannedPacer): LinePacing {
  const { line } = pacer;
  const moment = pacer.moment();
  const { targetAtMs, day, ...kept } = pacer.keep();
  return {
    ...{ lineItemId: line.lineItemId, workspaceId: line.workspaceId, goal: line.goal, basis: line.basis },
    ...{ windowStartMs: line.windowStartMs, windowEndMs: line.windowEndMs, planDigest: pacer.planDigest() },
    ...{ deliveryRate: moment?.deliveryRate ?? 1, urgency: moment?.urgency ?? 0, state: moment?.state ?? 'learning' },
    ...{ campaignId: line.campaignId, pacingVersion: 0 },
    ...kept,
    day,
    updatedAtMs: targetAtMs ?? 0,
  };
}

/** The line items that plans name, and what the last pacer left of them. */
export interface LineBook {
  readonly entries: ReadonlyMap<string, PacedEntry>;
  readonly activity: Activity;
  /** Whether another pacer paced it before. */
  isInherited(lineItemId: string): boolean;
  /**
   * Takes up line items of plans, some hundreds at a time and those that are asked for first; a campaign with a budget whole. Answers those that
   * left their plans, or whose windows are over: their leases may be closed.
   */
  follow(live: readonly LiveNode[], nowMs: number): Promise<readonly string[]>;
  /** Of these line items those that no plan has any more. */
  unplanned(lineItemIds: Iterable<string>): readonly string[];
  /** Whether a line item of a workspace is in no plan any more, or its window is over. One that waits to be taken up has not ended. */
  hasEnded(lineItemId: string, workspaceId: string): boolean;
  /** Lets go of a line item; answers what is to be kept of it, of one that was paced. */
  letGo(lineItemId: string, nowMs: number): LinePacing | undefined;
  /** What the committed units of line items that left their plans cost, of a campaign, in millionths of the currency. */
  spentMicrosOf(campaignId: string): number;
  setRow(row: LinePacing): void;
  /** Takes up everything anew: other nodes than those of leases gave slots. @param rows as they are now */
  restart(rows: readonly LinePacing[]): void;
  /** Sets what closed leases of a line item used. */
  setClosed(lineItemId: string, closedUsed: number): void;
}

const isSame = (one: PlannedLine, other: PlannedLine) => JSON.stringify(one) === JSON.stringify(other);

/** @param term every statement names it */
export async function openLineBook(term: number, deps: LineBookDeps): Promise<LineBook> {
  const { pool, plans, days } = deps;
  const rows = new Map<string, LinePacing>();
  /** Ids of the rows of campaigns. */
  const rowsOf = new Map<string, Set<string>>();
  const entries = new Map<string, PacedEntry>();
  const activity = createActivity(entries);
  let followed: readonly PlannedLine[] | undefined;
  let planned: ReadonlyMap<string, PlannedLine> = new Map();
  let waiting: PlannedLine[] = [];
  const leaving = new Set<string>();
  /** When the next window begins or ends. */
  let nextMs = -Infinity;

  function setRow(row: LinePacing): void {
    rows.set(row.lineItemId, row);
    if (row.campaignId === undefined) return;
    const ids = rowsOf.get(row.campaignId);
    if (ids) ids.add(row.lineItemId);
    else rowsOf.set(row.campaignId, new Set([row.lineItemId]));
  }

  function replace(entry: PacedEntry, line: PlannedLine): void {
    const before = entry.pacer.line;
    if (before === line) return;
    if (before.basis !== line.basis) Object.assign(entry, { isKnown: false, isSettled: false });
    if (line.goal < before.goal) entry.isReduced = true;
    entry.pacer.replace(line);
    if (!isSame(before, line)) activity.hurry(line.lineItemId);
  }

  function readPlans(list: readonly PlannedLine[], nowMs: number): void {
    planned = new Map(list.flatMap((line) => (line.windowEndMs > nowMs ? [[line.lineItemId, line]] : [])));
    nextMs = Infinity;
    for (const { lineItemId, windowStartMs, windowEndMs } of planned.values()) {
      if (windowStartMs > nowMs) nextMs = Math.min(nextMs, windowStartMs);
      else {
        nextMs = Math.min(nextMs, windowEndMs);
        if (entries.get(lineItemId)?.pacer.moment() === undefined) activity.hurry(lineItemId);
      }
    }
    waiting = [...planned.values()].filter(({ lineItemId }) => !entries.has(lineItemId));
    leaving.clear();
    for (const [lineItemId, entry] of entries) {
      const line = planned.get(lineItemId);
      if (line) replace(entry, line);
      else leaving.add(lineItemId);
    }
    followed = list;
  }

  /** The next line items that are taken up. */
  function nextWaiting(live: readonly LiveNode[]): readonly PlannedLine[] {
    if (waiting.length <= batchSize) return waiting.splice(0);
    const isAsked = ({ lineItemId }: PlannedLine) => live.some(({ asked }) => asked.has(lineItemId));
    const asked = waiting.filter(isAsked);
    const first = new Set([...asked, ...waiting.slice(0, batchSize)].slice(0, batchSize));
    const limited = new Set(
      [...first].flatMap(({ campaignId, campaignBudgetMicros: budget }) => (budget === undefined ? [] : [campaignId])),
    );
    for (const line of waiting) if (limited.has(line.campaignId)) first.add(line);
    waiting = waiting.filter((line) => !first.has(line));
    return [...first];
  }

  /** Slots of today that the guard gave count for the most of a day. */
  async function seedDays(lines: readonly PlannedLine[], nowMs: number): Promise<void> {
    if (lines.length === 0) return;
    const today = new Map(lines.map((line) => [line.lineItemId, days.dayAt(line.timeZone, nowMs)]));
    const since = new Map([...today].map(([lineItemId, { startMs }]) => [lineItemId, startMs]));
    const given = await deps.countGoalSlotsSince(pool, since);
    for (const [lineItemId, { number }] of today) {
      const row = rows.get(lineItemId)!;
      const usedAtStart = Math.max(0, row.closedUsed - (given.get(lineItemId) ?? 0));
      setRow({ ...row, day: { number, usedAtStart } });
    }
  }

  async function takeUp(lines: readonly PlannedLine[], nowMs: number): Promise<void> {
    for (let from = 0; from < lines.length; from += batchSize) {
      const batch = lines.slice(from, from + batchSize);
      const unseen = batch.filter(({ lineItemId }) => !rows.has(lineItemId));
      const unseenIds = unseen.map((line) => line.lineItemId);
      const counts = unseen.length > 0 ? await deps.countGoalSlots(pool, unseenIds) : new Map<string, number>();
      for (const line of unseen)
        setRow(rowOf(createLinePacer(line, { closedUsed: counts.get(line.lineItemId) ?? 0 }, days)));
      const undated = batch.filter(({ lineItemId }) => rows.get(lineItemId)!.day === undefined);
      await seedDays(undated, nowMs);
      const first = unseenIds.map((lineItemId) => rows.get(lineItemId)!);
      await saveLinePacing(pool, term, first);
    }
    for (const line of lines) {
      const row = rows.get(line.lineItemId)!;
      const kept = { ...row, ...(row.updatedAtMs === 0 ? { target: undefined } : { targetAtMs: row.updatedAtMs }) };
      const pacer = createLinePacer(line, kept, days);
      entries.set(line.lineItemId, { pacer, isKnown: false, isSettled: false, isReduced: line.goal < row.goal });
      activity.add(line.lineItemId, nowMs);
    }
  }

  /** A plan that this node has not loaded says nothing of who left it, and an older one nothing of windows. */
  function hasLeft(lineItemId: string, nowMs: number): boolean {
    const line = entries.get(lineItemId)?.pacer.line;
    const workspaceId = line?.workspaceId ?? rows.get(lineItemId)?.workspaceId;
    if (workspaceId !== undefined && plans.isOutdated(workspaceId)) return false;
    if ((line?.windowEndMs ?? Infinity) <= nowMs) return true;
    return plans.isReady();
  }

  (await listLinePacing(pool)).forEach(setRow);
  const inherited = new Set(rows.keys());
  return {
    entries,
    activity,
    isInherited: (lineItemId) => inherited.has(lineItemId),

    async follow(live, nowMs) {
      const list = plans.listPaced();
      if (list !== followed || nowMs >= nextMs) readPlans(list, nowMs);
      if (waiting.length > 0) await takeUp(nextWaiting(live), nowMs);
      return [...leaving].filter((lineItemId) => hasLeft(lineItemId, nowMs));
    },

    unplanned: (lineItemIds) => [...lineItemIds].filter((id) => !planned.has(id) && hasLeft(id, -Infinity)),

    hasEnded: (lineItemId, workspaceId) =>
      !entries.has(lineItemId) && !planned.has(lineItemId) && plans.isReady() && !plans.isOutdated(workspaceId),

    letGo(lineItemId, nowMs) {
      leaving.delete(lineItemId);
      const entry = entries.get(lineItemId);
      if (!entry) return undefined;
      activity.remove(lineItemId);
      entries.delete(lineItemId);
      entry.pacer.tick({ atMs: nowMs, usedOpen: 0, budget: Infinity, ratePrior: undefined });
      const row = { ...rowOf(entry.pacer), state: 'ended' };
      setRow(row);
      return row;
    },

    spentMicrosOf(campaignId) {
      let sum = 0;
      for (const lineItemId of rowsOf.get(campaignId) ?? [])
        if (!entries.has(lineItemId)) sum += rows.get(lineItemId)!.committedMicros;
      return sum;
    },

    setRow,

    restart(list) {
      list.forEach(setRow);
      for (const lineItemId of [...entries.keys()]) {
        activity.remove(lineItemId);
        entries.delete(lineItemId);
      }
      followed = undefined;
    },

    setClosed(lineItemId, closedUsed) {
      const entry = entries.get(lineItemId);
      if (entry) entry.pacer.closedUsed = closedUsed;
      activity.hurry(lineItemId);
      const row = rows.get(lineItemId);
      if (row) setRow({ ...row, closedUsed });
    },
  };
}
