import { alertKinds, evaluateAlerts, moveStreak, noAlert, type AlertKind, type AlertStreak } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import {
  closeAlerts,
  listOpenAlerts,
  openAlerts,
  readHistory,
  type AlertFigures,
  type AlertSubject,
  type ClearedAlert,
  type LineHistory,
  type RaisedAlert,
} from './alert-table.ts';
import type { CampaignBudget, PlannedPacer } from './pace-lines.ts';

/** What is judged in one evaluation. */
interface Watched {
  /** Line items whose window has begun and of which everything is known. */
  readonly pacers: readonly PlannedPacer[];
  readonly budgets: ReadonlyMap<string, CampaignBudget>;
  /** Whether a line item is in no plan any more, or its window is over. */
  readonly hasEnded: (alert: AlertSubject) => boolean;
}

/** Raises and clears the alerts of line items, under one term. */
export interface AlertWatch {
  /** One evaluation; answers the alerts that it raised. */
  evaluate(watched: Watched, nowMs: number): Promise<readonly RaisedAlert[]>;
  /** How many alerts are open, by kind. */
  countOpen(): ReadonlyMap<AlertKind, number>;
}

interface Watching extends AlertSubject {
  readonly streak: AlertStreak;
}

const keyOf = ({ lineItemId, kind }: Pick<AlertSubject, 'lineItemId' | 'kind'>) => `${lineItemId} ${kind}`;

function budgetPercentOf({ line }: PlannedPacer, budgets: Watched['budgets']): number | undefined {
  const budget = line.campaignBudgetMicros === undefined ? undefined : budgets.get(line.campaignId);
  if (!budget || line.unitPriceMicros === 0) return undefined;
  return budget.budgetMicros === 0 ? 100 : (budget.committedMicros / budget.budgetMicros) * 100;
}

/** The kinds whose condition holds for a line item, and its figures with the units of a kind. */
function judge(
  pacer: PlannedPacer,
  { bound, hourAgo, dayAgo }: LineHistory,
  budgets: Watched['budgets'],
  nowMs: number,
) {
  const { line } = pacer;
  const { target, committed, deliveryRate, shortBy } = pacer.moment()!;
  const { used } = pacer.keep();
  const confirmed = line.basis === 'reserved' ? used : pacer.sums().confirmed;
  const budgetPercent = budgetPercentOf(pacer, budgets);
  const holding = evaluateAlerts({
    ...{ atMs: nowMs, windowEndMs: line.windowEndMs, mode: line.mode, goal: line.goal },
    ...{ bound, target, committed, confirmed, used, deliveryRate, shortBy, hourAgo, dayAgo, budgetPercent },
    isLearning: pacer.isLearning(),
  });
  const figuresOf = (kind: AlertKind): AlertFigures => ({
    ...{ goal: line.goal, target, committed, confirmed, shortBy, budgetPercent },
    units: holding.get(kind) ?? 0,
  });
  return { holding, figuresOf };
}

/**
 * The alerts of a term. Those that are open are read once; how many evaluations in a row spoke for or against one is not kept: a new
 * pacer counts anew.
 */
export async function createAlertWatch(pool: Pool, term: number): Promise<AlertWatch> {
  const watching = new Map<string, Watching>();
  for (const alert of await listOpenAlerts(pool))
    watching.set(keyOf(alert), { ...alert, streak: { isOpen: true, against: 0 } });

  return {
    async evaluate({ pacers, budgets, hasEnded }, nowMs) {
      const history = await readHistory(
        pool,
        pacers.map(({ line }) => line.lineItemId),
        nowMs,
      );
      const raised: RaisedAlert[] = [];
      const recovered: ClearedAlert[] = [];
      const moved = new Map<string, Watching | undefined>();
      for (const pacer of pacers) {
        const { lineItemId, workspaceId } = pacer.line;
        const past = history.get(lineItemId);
        if (!past) continue;
        const { holding, figuresOf } = judge(pacer, past, budgets, nowMs);
        for (const kind of alertKinds) {
          const subject = { lineItemId, workspaceId, kind };
          const before = watching.get(keyOf(subject))?.streak ?? noAlert;
          const streak = moveStreak(before, holding.has(kind));
          moved.set(keyOf(subject), streak.isOpen || streak.against > 0 ? { ...subject, streak } : undefined);
          if (streak.isOpen !== before.isOpen)
            (streak.isOpen ? raised : recovered).push({ ...subject, figures: figuresOf(kind) });
        }
      }
      const ended = [...watching.values()].filter((one) => hasEnded(one));
      for (const one of ended) moved.set(keyOf(one), undefined);
      const open = ended.filter(({ streak }) => streak.isOpen);
      await closeAlerts(pool, term, recovered, { nowMs, cause: 'recovered' });
      await closeAlerts(
        pool,
        term,
        open.map((one) => ({ ...one, figures: undefined })),
        { nowMs, cause: 'ended' },
      );
      const opened = await openAlerts(pool, term, raised, nowMs);
      // What is stored is as decided: a statement that failed leaves every count as it was.
      for (const [key, one] of moved) {
        if (one) watching.set(key, one);
        else watching.delete(key);
      }
      return opened;
    },

    countOpen() {
      const counts = new Map<AlertKind, number>(alertKinds.map((kind) => [kind, 0]));
      for (const { kind, streak } of watching.values()) if (streak.isOpen) counts.set(kind, counts.get(kind)! + 1);
      return counts;
    },
  };
}
