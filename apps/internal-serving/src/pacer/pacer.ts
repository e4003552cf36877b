import { createTurns } from '@longwave/worker-kit';
import { changeMode } from './change-over.ts';
import type { CohortFollower } from './cohort-follower.ts';
import {
  closeLeases,
  lowerLeases,
  openLeases,
  raiseLeases,
  readLeasesOf,
  readServingNodes,
  type Closing,
  type LeaseRow,
  type LeasesByLine,
  type ServingNodes,
} from './lease-grant-table.ts';
import { batchSize, openLineBook, rowOf, type LineBookDeps } from './line-book.ts';
import { listLinePacing, saveHours, saveLinePacing } from './line-pacing-table.ts';
import {
  campaignBudgets,
  GivenRates,
  liveEpochs,
  lowerings,
  raisings,
  withLowered,
  workspaceRates,
  type Opening,
  type PacedEntry,
  type PacedLeases,
  type PlannedPacer,
} from './pace-lines.ts';
import { createAlertWatch, type AlertWatch } from './watch-alerts.ts';
import type { RaisedAlert } from './alert-table.ts';
import type { PodcastJudgement } from './judge-podcasts.ts';
import { listPlanDigests, readPlans } from './pacing-plan-table.ts';
import type { ReturnCurves } from './return-curves.ts';

const hourMs = 3_600_000;
/** For so long a new pacer lowers no lease of a line item whose cohorts it has not read: to it more is committed than there is. */
const graceMs = 300_000;
/** Leases that are opened in a tick: those of nodes that were asked for the line item come first, the others can wait for their first play. */
const maxOpened = 2_000;
/** All leases are read so often; in between those of the line items that a tick looks at. */
const readAllMs = 60_000;
/** The row of a line item that gives slots is written so often, besides when its urgency or state changes; that of another one seldom. */
const keepMs = 10_000;
const keepIdleMs = 300_000;

export interface PacerDeps extends LineBookDeps {
  readonly cohorts: CohortFollower;
  readonly curves: ReturnCurves;
  readonly podcasts: PodcastJudgement;
  /** Time of the database, in ms: days, windows and plans go by it, whatever the clock of the process that is the pacer says. */
  readonly readNow: () => Promise<number>;
}

/** The pacer of all line items, under one term. A term that may be lost is given up with everything that it knew. */
export interface Pacer {
  /** One round; answers whether the next is to begin soon, as the mode changes. */
  tick(): Promise<boolean>;
  /** Reads plans, curves, cohorts and podcasts. Rejects when a service is away: what was known stands. */
  learn(): Promise<void>;
  /** Evaluates the alerts of its line items and of podcasts; answers those that were raised. */
  watch(): Promise<readonly RaisedAlert[]>;
  /** How many alerts are open, by kind. */
  countAlerts: AlertWatch['countOpen'];
  /** Line items that it paces. */
  lines(): readonly PlannedPacer[];
}

/** Those that are asked for first; what is left out is opened when its line item's turn comes again. */
const firstOpenings = (open: readonly Opening[]): readonly Opening[] =>
  open.length <= maxOpened
    ? open
    : [...open.filter(({ isAsked }) => isAsked), ...open.filter(({ isAsked }) => !isAsked)].slice(0, maxOpened);

/** Whether a line item's row says something else than what was kept of it, and for long enough. */
function isToKeep({ pacer, kept }: PacedEntry, hour: number, nowMs: number): boolean {
  if (!kept || kept.hourMs !== hour) return true;
  const { state, urgency } = pacer.moment()!;
  if (kept.row.state !== state || kept.row.urgency !== urgency) return true;
  const { used, committed } = pacer.keep();
  const isIdle = used === kept.row.used && committed === kept.row.committed;
  return nowMs - kept.atMs >= (isIdle ? keepIdleMs : keepMs);
}

/** @param term every statement names it */
export async function createPacer(term: number, deps: PacerDeps): Promise<Pacer> {
  const { pool, cohorts, readNow } = deps;
  const book = await openLineBook(term, deps);
  const { entries, activity } = book;
  const alerts = await createAlertWatch(pool, term);
  const given = new GivenRates();
  const beganMs = await readNow();
  let readAllAtMs = -Infinity;
  let rates: ReturnType<typeof workspaceRates> | undefined;

  /** Closes leases, and counts what was used under them. */
  async function close(closing: Closing): Promise<void> {
    if (closing.silent.length + closing.gone.length + closing.lineItemIds.length === 0) return;
    for (const [lineItemId, closedUsed] of await closeLeases(pool, term, closing))
      book.setClosed(lineItemId, closedUsed);
  }

  /** Closes leases of nodes that are not registered any more, and those of line items that no plan has. */
  async function closeStrays({ live, silent }: ServingNodes, leases: LeasesByLine): Promise<void> {
    const open = new Set([...live.map((node) => node.nodeEpoch), ...silent]);
    const holders = new Set([...leases.values()].flatMap((rows) => rows.map((lease) => lease.nodeEpoch)));
    const gone = [...holders].filter((nodeEpoch) => !open.has(nodeEpoch));
    await close({ silent: [], gone, lineItemIds: book.unplanned(leases.keys()) });
  }

  async function letGo(left: readonly string[], nowMs: number): Promise<void> {
    const ended = left.flatMap((lineItemId) => book.letGo(lineItemId, nowMs) ?? []);
    for (let from = 0; from < ended.length; from += batchSize)
      await saveLinePacing(pool, term, ended.slice(from, from + batchSize));
  }

  /** The leases of the line items of a tick, or of all, as their rows say now. */
  async function readLeases(nodes: ServingNodes, due: readonly PacedEntry[], nowMs: number): Promise<LeasesByLine> {
    const ids = due.map(({ pacer }) => pacer.line.lineItemId);
    const turn = createTurns();
    if (nowMs - readAllAtMs >= readAllMs) {
      readAllAtMs = nowMs;
      await closeStrays(nodes, await readLeasesOf(pool, turn));
    }
    return readLeasesOf(pool, turn, ids);
  }

  /** Whether another pacer knew more of it than this one does yet. A lower goal counts at once. */
  const isUnread = ({ pacer: { line }, isSettled, isReduced }: PacedEntry, nowMs: number) =>
    nowMs - beganMs < graceMs &&
    line.basis !== 'reserved' &&
    !isSettled &&
    !isReduced &&
    book.isInherited(line.lineItemId);

  /** Leases stay as they are while another goal than the one that this pacer knows may be published. */
  const isCurrent = ({ pacer: { line } }: PacedEntry) => !deps.plans.isOutdated(line.workspaceId);

  const budgetsOf = (due: readonly PacedEntry[]) =>
    campaignBudgets(
      due.map(({ pacer }) => pacer),
      book.spentMicrosOf,
    );

  async function pace(leases: LeasesByLine, due: readonly PacedEntry[], nowMs: number) {
    const turn = createTurns();
    rates ??= workspaceRates([...entries.values()].map(({ pacer }) => pacer));
    const budgets = budgetsOf(due);
    for (const { pacer } of due) {
      const { lineItemId, workspaceId, campaignId } = pacer.line;
      let usedOpen = 0;
      for (const { used } of leases.get(lineItemId) ?? []) usedOpen += used;
      const budget = budgets.get(campaignId)?.units.get(lineItemId) ?? Infinity;
      pacer.tick({ atMs: nowMs, usedOpen, budget, ratePrior: rates.get(workspaceId) });
      await turn();
    }
  }

  /** Lowers first and counts what the rows say, then raises: the leases of a line item never have more than its bound. */
  async function grant({ live }: ServingNodes, leases: LeasesByLine, due: readonly PacedEntry[], nowMs: number) {
    const turn = createTurns();
    const epochs = liveEpochs(live);
    const lines: PacedLeases[] = [];
    const lower: Parameters<typeof lowerLeases>[2][number][] = [];
    for (const entry of due) {
      const { pacer } = entry;
      const { lineItemId } = pacer.line;
      const isActive = activity.isActive(lineItemId);
      const line = lowerings({ pacer, isActive }, epochs, leases.get(lineItemId) ?? []);
      lines.push(line.paced);
      if (!isUnread(entry, nowMs)) lower.push(...line.grants);
      await turn();
    }
    const lowered = new Map<string, LeaseRow[]>();
    if (lower.length > 0)
      for (const row of await lowerLeases(pool, term, lower))
        lowered.set(row.lineItemId, [...(lowered.get(row.lineItemId) ?? []), row]);
    const after = lines.map((line) => withLowered(line, lowered.get(line.pacer.line.lineItemId)));
    const raising = raisings(after, budgetsOf(due), given);
    for (const line of after) {
      raising.add(line);
      await turn();
    }
    const open = firstOpenings(raising.open);
    if (raising.raise.length > 0) await raiseLeases(pool, term, raising.raise);
    if (open.length > 0) await openLeases(pool, term, open);
    for (const grants of [lower, raising.raise, open]) given.put(grants);
    given.keep(live);
  }

  /** Keeps what changed, for the next pacer, for nodes and for those who look. */
  async function keep(leases: LeasesByLine, due: readonly PacedEntry[], nowMs: number): Promise<void> {
    const hour = Math.floor(nowMs / hourMs) * hourMs;
    const changed = due.filter((entry) => isToKeep(entry, hour, nowMs)).slice(0, batchSize);
    if (changed.length === 0) return;
    const lineRows = changed.map(({ pacer }) => rowOf(pacer));
    await saveLinePacing(pool, term, lineRows);
    await saveHours(
      pool,
      term,
      changed.map(({ pacer }, at) => {
        const row = lineRows[at]!;
        let granted = pacer.closedUsed;
        for (const lease of leases.get(row.lineItemId) ?? []) granted += lease.granted;
        return { ...row, hourMs: hour, granted, shortBy: pacer.moment()!.shortBy };
      }),
    );
    changed.forEach((entry, at) => {
      const row = lineRows[at]!;
      book.setRow(row);
      entry.kept = { row, atMs: nowMs, hourMs: hour };
    });
  }

  /** Line items that alerts can be about: their window has begun, and what became of their servings is known. */
  const judged = () =>
    [...entries.values()].filter(
      ({ pacer, isSettled }) => pacer.moment() && (pacer.line.basis === 'reserved' || isSettled),
    );

  /** Leases are closed once no node uses them, then the mode follows. */
  async function changeOver({ live, silent }: ServingNodes): Promise<void> {
    await close({ silent, gone: [], lineItemIds: [] });
    if (live.some((node) => node.mode !== 'none')) return;
    await close({ silent: [], gone: [], lineItemIds: [...(await readLeasesOf(pool, createTurns())).keys()] });
    if (await changeMode(pool, term, deps.countGoalSlots)) book.restart(await listLinePacing(pool));
  }

  async function learnPlans(): Promise<void> {
    const next = await listPlanDigests(pool);
    const stale = [...entries.values()].flatMap(({ pacer }) =>
      next.get(pacer.line.lineItemId) === pacer.planDigest() ? [] : [pacer],
    );
    for (let from = 0; from < stale.length; from += batchSize) {
      const batch = stale.slice(from, from + batchSize);
      const ids = batch.map((pacer) => pacer.line.lineItemId);
      const found = new Map((await readPlans(pool, ids)).map((plan) => [plan.lineItemId, plan]));
      for (const pacer of batch) pacer.setPlan(found.get(pacer.line.lineItemId));
    }
  }

  async function learnCohorts(nowMs: number): Promise<void> {
    const followed = [...entries.values()].filter(({ pacer }) => pacer.line.basis !== 'reserved');
    const books = new Map(followed.map(({ pacer }) => [pacer.line.lineItemId, pacer.cohorts()]));
    /** Ticks go on meanwhile: one that began anew, or counts in another basis, has not had what was told before. */
    const askedEntry = (lineItemId: string): PacedEntry | undefined => {
      const entry = entries.get(lineItemId);
      return entry?.pacer.cohorts() === books.get(lineItemId) ? entry : undefined;
    };
    await cohorts.read(
      followed.map(({ pacer, isKnown }) => ({ ...pacer.line, isKnown })),
      nowMs,
      (answer) => {
        for (const cohort of answer.cohorts) askedEntry(cohort.lineItemId)?.pacer.putCohorts([cohort]);
        for (const lineItemId of answer.lineItemIds) {
          const entry = askedEntry(lineItemId);
          if (entry) entry.isKnown = true;
        }
      },
    );
    const turn = createTurns();
    for (const entry of followed) {
      const { pacer, isKnown } = entry;
      pacer.settle(cohorts.watermarkMs(), deps.curves.curvesOf(pacer.line.workspaceId, pacer.line.basis));
      entry.isSettled ||= isKnown;
      await turn();
    }
    rates = undefined;
  }

  return {
    lines: () => [...entries.values()].map(({ pacer }) => pacer),

    async tick() {
      const [nowMs, nodes] = await Promise.all([readNow(), readServingNodes(pool)]);
      if (nodes.mode !== nodes.wanted) {
        await changeOver(nodes);
        return true;
      }
      if (nodes.mode === 'guard') {
        await close({ silent: nodes.silent, gone: [], lineItemIds: [] });
        await closeStrays(nodes, await readLeasesOf(pool, createTurns()));
        return false;
      }
      activity.report(nodes.live, nowMs);
      const left = await book.follow(nodes.live, nowMs);
      await close({ silent: nodes.silent, gone: [], lineItemIds: left });
      await letGo(left, nowMs);
      const due = activity.take(nowMs);
      const leases = await readLeases(nodes, due, nowMs);
      await pace(leases, due, nowMs);
      await grant(nodes, leases, due.filter(isCurrent), nowMs);
      await keep(leases, due, nowMs);
      return false;
    },

    watch: async () =>
      alerts.evaluate(
        {
          pacers: judged().map(({ pacer }) => pacer),
          budgets: budgetsOf([...entries.values()]),
          podcasts: deps.podcasts.list(),
          hasEnded: ({ lineItemId, workspaceId }) => book.hasEnded(lineItemId, workspaceId),
        },
        await readNow(),
      ),

    countAlerts: alerts.countOpen,

    async learn() {
      const nowMs = await readNow();
      await learnPlans();
      // Cohorts are read without new curves too, and hold up no podcasts.
      const judging = deps.podcasts.read();
      judging.catch(() => undefined);
      const measured = deps.curves.refresh(nowMs);
      await measured.catch(() => undefined);
      await learnCohorts(nowMs);
      await measured;
      await judging;
    },
  };
}
