import { affordableUnits, budgetUnits, costMicros } from '../budget.ts';
import type { Cohort } from '../cohort.ts';
import { lowerGrants, raiseGrants, type NodeLease } from '../grants.ts';
import { createLinePacer, type KeptPacing, type LinePacer, type LocalDays } from '../line-pacer.ts';
import type { PacedLine } from '../pace-line.ts';
import { bucketOf, isStaleRate } from '../quota.ts';
import type { ReturnCurve } from '../return-curve.ts';
import type { SimulatedLine } from './simulated-lines.ts';
import type { Grant, Statement, Tables } from './simulated-tables.ts';

const dayMs = 86_400_000;

const utc: LocalDays = {
  dayAt: (_, atMs) => {
    const number = Math.floor(atMs / dayMs);
    return { number, startMs: number * dayMs, endMs: (number + 1) * dayMs };
  },
  daysBetween: (_, fromMs, toMs) => {
    const first = Math.floor(fromMs / dayMs);
    return Array.from({ length: Math.ceil(toMs / dayMs) - first }, (_each, at) => ({
      ...{ number: first + at, startMs: (first + at) * dayMs, endMs: (first + at + 1) * dayMs },
    }));
  },
};

export interface PacerWorld {
  readonly tables: Tables;
  readonly lines: readonly SimulatedLine[];
  readonly budgetMicros: number;
  readonly curve: ReturnCurve;
  /** As the workspace knows it from before. */
  readonly deliveryRate: number;
  readonly planStartsAtMs: number | undefined;
}

type Row = NodeLease & { readonly epoch: number };

/**
 * A pacer of one term. It does what the pacer of internal-serving does, over the tables of the simulation.
 * @param kept what the last one left, by line item
 */
export function createPacer(term: number, world: PacerWorld, kept: ReadonlyMap<string, KeptPacing>) {
  const { tables, lines, budgetMicros, curve, deliveryRate, planStartsAtMs } = world;
  const ratePrior = { share: deliveryRate, servings: 100 };
  const pacers = lines.map(({ paced, plan }): LinePacer<PacedLine> => {
    const closedUsed = tables.closedUsed(paced.lineItemId);
    const pacer = createLinePacer(paced, { ...kept.get(paced.lineItemId), closedUsed }, utc);
    if (planStartsAtMs !== undefined)
      pacer.setPlan({ digest: 'plan', startsAtMs: planStartsAtMs, hours: [...plan], isLearning: false });
    return pacer;
  });
  const byId = new Map(pacers.map((pacer) => [pacer.line.lineItemId, pacer]));
  const budgeted = pacers.filter((_, at) => lines[at]!.isBudgeted);

  /** Live nodes with their shares, and their rows. */
  function rowsOf({ line, shares }: LinePacer<PacedLine>): readonly Row[] {
    const epochs = [...tables.nodes().keys()];
    const demand = shares.sharesOf(epochs);
    const rows = tables.rowsOf(line.lineItemId);
    return epochs.map((epoch, at) => ({ epoch, granted: 0, used: 0, ...rows.get(epoch), share: demand[at]! }));
  }

  const grantOf = (pacer: LinePacer<PacedLine>, row: Row, granted: number): Grant => ({
    ...{ epoch: row.epoch, lineItemId: pacer.line.lineItemId, known: row.granted, granted },
    ...bucketOf(pacer.moment()!.quota, row.share),
  });

  /** Answers the rows as they are afterwards. */
  function lower(pacer: LinePacer<PacedLine>, leases: readonly Row[]): readonly Row[] {
    const { maxGranted, quota } = pacer.moment()!;
    const to = lowerGrants({ maxGranted, quota: quota.units, leases });
    const grants = leases.flatMap((row, at) => (to[at] === undefined ? [] : [grantOf(pacer, row, to[at])]));
    if (grants.length === 0) return leases;
    tables.run({ term, kind: 'lower', grants });
    return rowsOf(pacer);
  }

  /** What the campaign may still grant, in money. */
  function roomMicros(lowered: ReadonlyMap<LinePacer<PacedLine>, readonly Row[]>): number {
    return budgeted.reduce((room, pacer) => {
      const open = lowered.get(pacer)!.reduce((sum, { granted, used }) => sum + granted - used, 0);
      return room - pacer.committedMicros() - costMicros(open, pacer.line.unitPriceMicros!);
    }, budgetMicros);
  }

  function raise(pacer: LinePacer<PacedLine>, leases: readonly Row[], room: { micros: number }): readonly Grant[] {
    const { maxGranted, quota } = pacer.moment()!;
    const granted = leases.reduce((sum, row) => sum + row.granted, 0);
    const price = pacer.line.unitPriceMicros!;
    const affordable = budgeted.includes(pacer) ? granted + affordableUnits(room.micros, price) : Infinity;
    const to = raiseGrants({ maxGranted: Math.min(maxGranted, affordable), quota: quota.units, leases });
    return leases.flatMap((row, at) => {
      if (to[at] !== undefined) {
        if (budgeted.includes(pacer)) room.micros -= costMicros(to[at] - row.granted, price);
        return [grantOf(pacer, row, to[at])];
      }
      const known = tables.rowsOf(pacer.line.lineItemId).get(row.epoch);
      const grant = grantOf(pacer, row, row.granted);
      return known && isStaleRate(known.ratePerS, grant.ratePerS) ? [grant] : [];
    });
  }

  return {
    term,
    of: (lineItemId: string) => byId.get(lineItemId)!,
    keep: (): ReadonlyMap<string, KeptPacing> => new Map(pacers.map((pacer) => [pacer.line.lineItemId, pacer.keep()])),
    /** Takes cohorts, and what they sum to at a watermark. */
    learn(watermarkMs: number, cohorts: readonly Cohort[]): void {
      for (const cohort of cohorts) byId.get(cohort.lineItemId)!.putCohorts([cohort]);
      for (const pacer of pacers) pacer.settle(watermarkMs, { download: curve });
    },
    /** Closes and lowers; answers the raising, which its caller runs, or which is late. */
    tick(atMs: number): Statement {
      tables.closeSilent(term, atMs);
      const demand = [...tables.nodes()];
      const lowered = new Map<LinePacer<PacedLine>, readonly Row[]>();
      const units = budgetUnits(
        budgetMicros,
        budgeted.map((pacer) => ({
          ...{ priceMicros: pacer.line.unitPriceMicros!, goal: pacer.line.goal },
          ...{ committed: pacer.committed(), committedMicros: pacer.committedMicros() },
        })),
      );
      pacers.forEach((pacer, at) => {
        const { paced } = lines[at]!;
        const id = paced.lineItemId;
        pacer.replace(paced);
        pacer.shares.report(
          demand.flatMap(([nodeEpoch, { asked }]) => (asked.has(id) ? [{ nodeEpoch, asked: asked.get(id)! }] : [])),
          atMs,
        );
        pacer.closedUsed = tables.closedUsed(id);
        const leases = rowsOf(pacer);
        const usedOpen = leases.reduce((sum, { used }) => sum + used, 0);
        const budget = units[budgeted.indexOf(pacer)] ?? Infinity;
        pacer.tick({ atMs, usedOpen, budget, ratePrior });
        lowered.set(pacer, lower(pacer, leases));
      });
      const room = { micros: roomMicros(lowered) };
      return { term, kind: 'raise', grants: [...lowered].flatMap(([pacer, leases]) => raise(pacer, leases, room)) };
    },
  };
}

export type SimulatedPacer = ReturnType<typeof createPacer>;
