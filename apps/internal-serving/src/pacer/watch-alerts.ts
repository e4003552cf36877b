import {
  alertKinds,
  evaluateAlerts,
  lineAlertKinds,
  moveStreak,
  noAlert,
  type AlertKind,
  type AlertStreak,
  type FoundKind,
} from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import { findingKey, listFindings, type AlertFinding } from './alert-finding-table.ts';
import {
  closeAlerts,
  listOpenAlerts,
  openAlerts,
  readHistory,
  type AlertFigures,
  type AlertSubject,
  type ClearedAlert,
  type LineHistory,
  type OpenAlert,
  type RaisedAlert,
} from './alert-table.ts';
import type { CampaignBudget, PlannedPacer } from './pace-lines.ts';
import type { JudgedPodcast } from './judge-podcasts.ts';

/** What is judged in one evaluation. */
interface Watched {
  /** Line items whose window has begun and of which everything is known. */
  readonly pacers: readonly PlannedPacer[];
  readonly budgets: ReadonlyMap<string, CampaignBudget>;
  /** Podcasts of which enough is known, with what speaks for an alert; undefined while nothing is known of any. */
  readonly podcasts: readonly JudgedPodcast[] | undefined;
  /** Whether a line item is in no plan any more, or its window is over. */
  readonly hasEnded: (alert: AlertSubject) => boolean;
}

/** Raises and clears the alerts of line items and podcasts, under one term. */
export interface AlertWatch {
  /** One evaluation; answers the alerts that it raised. */
  evaluate(watched: Watched, nowMs: number): Promise<readonly RaisedAlert[]>;
  /** How many alerts are open, by kind. */
  countOpen(): ReadonlyMap<AlertKind, number>;
}

interface Watching extends OpenAlert {
  readonly streak: AlertStreak;
}

type AlertKey = Pick<AlertSubject, 'lineItemId' | 'podcastId' | 'kind'>;
const keyOf = ({ lineItemId, podcastId, kind }: AlertKey) => `${lineItemId}${podcastId} ${kind}`;

function budgetPercentOf({ line }: PlannedPacer, budgets: Watched['budgets']): number | undefined {
  const budget = line.campaignBudgetMicros === undefined ? undefined : budgets.get(line.campaignId);
  if (!budget || line.unitPriceMicros === 0) return undefined;
  return budget.budgetMicros === 0 ? 100 : (budget.committedMicros / budget.budgetMicros) * 100;
}

/** A line item or a podcast: the kinds that it is judged by, those of them whose condition holds, and its figures with the units of a kind. */
interface Judged {
  readonly subject: Omit<OpenAlert, 'kind'>;
  readonly kinds: readonly AlertKind[];
  readonly holding: ReadonlySet<AlertKind>;
  readonly figuresOf: (kind: AlertKind) => AlertFigures;
}

function judgeLine(
  pacer: PlannedPacer,
  { bound, hourAgo, dayAgo }: LineHistory,
  { budgets, found }: Pick<Watched, 'budgets'> & { readonly found: ReadonlyMap<FoundKind, AlertFinding> | undefined },
  nowMs: number,
): Judged {
  const { line } = pacer;
  const { target, committed, deliveryRate, shortBy } = pacer.moment()!;
  const { used } = pacer.keep();
  const confirmed = line.basis === 'reserved' ? used : pacer.sums().confirmed;
  const budgetPercent = budgetPercentOf(pacer, budgets);
  const paced = evaluateAlerts({
    ...{ atMs: nowMs, windowEndMs: line.windowEndMs, mode: line.mode, goal: line.goal },
    ...{ bound, target, committed, confirmed, used, deliveryRate, shortBy, hourAgo, dayAgo, budgetPercent },
    isLearning: pacer.isLearning(),
  });
  // Who is paced holds nothing any more.
  const details: ReadonlyMap<AlertKind, AlertFinding> = new Map(
    [...(found ?? [])].filter(([kind]) => kind !== 'ending'),
  );
  const units: ReadonlyMap<AlertKind, number> = new Map([
    ...paced,
    ...[...details].map(([kind, finding]) => [kind, finding.units] as const),
  ]);
  return {
    subject: {
      ...{ lineItemId: line.lineItemId, podcastId: '', workspaceId: line.workspaceId },
      isOfReservation: false,
    },
    kinds: lineAlertKinds,
    holding: new Set(units.keys()),
    figuresOf: (kind) => ({
      ...{ goal: line.goal, target, committed, confirmed, shortBy, budgetPercent },
      ...{ units: units.get(kind) ?? 0, detail: details.get(kind)?.detail },
    }),
  };
}

const ofNoLineItem = { goal: 0, target: 0, committed: 0, confirmed: 0, shortBy: undefined, budgetPercent: undefined };

/** A line item that holds slots for a short time yet, and has none. */
const judgeReservation = ({ lineItemId, workspaceId, units, detail }: AlertFinding): Judged => ({
  subject: { lineItemId, podcastId: '', workspaceId, isOfReservation: true },
  kinds: ['ending'],
  holding: new Set(['ending']),
  figuresOf: () => ({ ...ofNoLineItem, goal: units, units, detail }),
});

function judgePodcast({ podcastId, workspaceId, unfilled }: JudgedPodcast): Judged {
  return {
    subject: { lineItemId: '', podcastId, workspaceId, isOfReservation: false },
    kinds: ['unfilled'],
    holding: new Set(unfilled ? (['unfilled'] as const) : []),
    figuresOf: () => ({
      ...{ ...ofNoLineItem, units: unfilled?.units ?? 0 },
      detail: unfilled && { unfilled: unfilled.detail },
    }),
  };
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
    async evaluate({ pacers, budgets, podcasts, hasEnded }, nowMs) {
      const [history, findings] = await Promise.all([
        readHistory(
          pool,
          pacers.map(({ line }) => line.lineItemId),
          nowMs,
        ),
        listFindings(pool),
      ]);
      const lines = pacers.flatMap((pacer) => {
        const { lineItemId, workspaceId } = pacer.line;
        const past = history.get(lineItemId);
        const found = findings.get(findingKey(workspaceId, lineItemId));
        return past ? [judgeLine(pacer, past, { budgets, found }, nowMs)] : [];
      });
      const paced = new Set(pacers.map(({ line }) => line.lineItemId));
      const reservations = [...findings.values()].flatMap((found) => {
        const ending = found.get('ending');
        return ending && !paced.has(ending.lineItemId) ? [judgeReservation(ending)] : [];
      });
      const judged = [...lines, ...reservations, ...(podcasts ?? []).map(judgePodcast)];
      const raised: RaisedAlert[] = [];
      const recovered: ClearedAlert[] = [];
      const moved = new Map<string, Watching | undefined>();
      for (const { subject: about, kinds, holding, figuresOf } of judged)
        for (const kind of kinds) {
          const subject = { ...about, kind };
          const before = watching.get(keyOf(subject))?.streak ?? noAlert;
          const streak = moveStreak(before, holding.has(kind));
          moved.set(keyOf(subject), streak.isOpen || streak.against > 0 ? { ...subject, streak } : undefined);
          if (streak.isOpen !== before.isOpen)
            (streak.isOpen ? raised : recovered).push({ ...subject, figures: figuresOf(kind) });
        }
      const known = podcasts && new Set(podcasts.map(({ podcastId }) => podcastId));
      const held = new Set(reservations.map(({ subject }) => subject.lineItemId));
      const isOver = (one: OpenAlert) => {
        if (one.podcastId !== '') return known !== undefined && !known.has(one.podcastId);
        return one.isOfReservation ? !held.has(one.lineItemId) : hasEnded(one);
      };
      const ended = [...watching.values()].filter(isOver);
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
