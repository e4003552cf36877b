import { decide, type DecisionContext, type Share } from '@longwave/ad-decision';
import { lowerGrants, raiseGrants } from '../grants.ts';
import { createLinePacer, type LinePacer, type LocalDays } from '../line-pacer.ts';
import type { PacedLine } from '../pace-line.ts';
import { bucketOf, isStaleRate } from '../quota.ts';
import { deliveryDelay, measuredCurve } from './simulated-delivery.ts';
import { creditOf, grantTo, leaseOf, newNode, type SimulatedNode } from './simulated-nodes.ts';
import { createDraws, createWorld, startMs, type WorldOptions } from './simulated-world.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const quarterMs = 900_000;

export interface SimulationOptions extends WorldOptions {
  readonly lagMs: number;
  /** Node kills, nodes paused for a minute, two losses of the pacer for ten minutes, nodes whose clocks are 30 s off. */
  readonly faults: boolean;
  /** The delivery rate, and that of the last day. */
  readonly deliveryRate: number;
  readonly lastDayRate: number;
  /** The plan says nothing of the hours. */
  readonly withoutPlan?: boolean;
  readonly tickMs?: number;
}

export interface SimulatedResult {
  /** Per cent of the goal, of the worst line item: delivered beyond it; negative where none is. */
  readonly over: number;
  /** The most that was decided of a goal, in per cent: beyond 100 where deliveries fail. */
  readonly shortAll: number;
  readonly shortWorst: number;
  /** Per cent of the goal between what is committed and its plan, over line items and hours. */
  readonly distanceMean: number;
  readonly distanceWorst: number;
  /** Writes of leases that were refused by the rows, and grants beyond I1: none in a right pacer. */
  readonly broken: number;
  readonly plays: number;
}

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

interface Line {
  readonly paced: PacedLine;
  pacer: LinePacer<PacedLine>;
  closedUsed: number;
  decided: number;
  delivered: number;
  readonly plan: readonly number[];
  /** Servings by the quarter hour of their decision, as the sink has counted them. */
  readonly cohorts: Map<number, { decided: number; delivered: number }>;
  readonly changed: Set<number>;
}

/** What the sink will have counted at a time. */
interface Fact {
  readonly line: Line;
  readonly quarter: number;
  readonly isDelivery: boolean;
}

/** Facts by the minute in which the sink counts them. */
function createSink(lagMs: number) {
  const minutes = new Map<number, Fact[]>();
  let countedUntil = Math.floor(startMs / minuteMs);
  return {
    add(atMs: number, fact: Fact) {
      const minute = Math.floor(atMs / minuteMs);
      const facts = minutes.get(minute);
      if (facts) facts.push(fact);
      else minutes.set(minute, [fact]);
    },
    /** Counts everything until the watermark, and answers it. */
    count(atMs: number): number {
      const until = Math.floor((atMs - lagMs) / minuteMs);
      for (; countedUntil < until; countedUntil++) {
        for (const { line, quarter, isDelivery } of minutes.get(countedUntil) ?? []) {
          const cohort = line.cohorts.get(quarter) ?? { decided: 0, delivered: 0 };
          cohort[isDelivery ? 'delivered' : 'decided']++;
          line.cohorts.set(quarter, cohort);
          line.changed.add(quarter);
        }
        minutes.delete(countedUntil);
      }
      return until * minuteMs;
    },
  };
}

function deliveredOf(lines: readonly Line[]): Pick<SimulatedResult, 'over' | 'shortAll' | 'shortWorst'> {
  const goals = lines.reduce((sum, { paced }) => sum + paced.goal, 0);
  const missing = lines.map(({ delivered, paced }) => Math.max(0, paced.goal - delivered));
  return {
    over: Math.max(...lines.map(({ delivered, paced }) => (delivered / paced.goal - 1) * 100)),
    shortAll: (missing.reduce((sum, one) => sum + one, 0) / goals) * 100,
    shortWorst: Math.max(...lines.map(({ paced }, at) => (missing[at]! / paced.goal) * 100)),
  };
}

/** Runs the real core and the real pacing over a made-up world; the same options give the same result. */
export function simulatePacing(options: SimulationOptions): SimulatedResult {
  const { seed, lagMs, faults, deliveryRate, lastDayRate, tickMs = 5 * secondMs } = options;
  const world = createWorld(options);
  const draws = createDraws(seed + 1_000_003);
  const curve = measuredCurve(draws, deliveryRate);
  const sink = createSink(lagMs);
  const { endMs } = world;

  const newPacer = (line: Omit<Line, 'pacer'>, kept?: LinePacer<PacedLine>): LinePacer<PacedLine> => {
    const pacer = createLinePacer(line.paced, { ...kept?.keep(), closedUsed: line.closedUsed }, utc);
    if (!options.withoutPlan)
      pacer.setPlan({ digest: 'plan', startsAtMs: startMs, hours: [...line.plan], isLearning: false });
    return pacer;
  };
  const lines = world.guaranteed.map(({ lineItemId, goal, plan }): Line => {
    const paced: PacedLine = {
      ...{ lineItemId, goal, basis: 'ad_delivered', windowStartMs: startMs, windowEndMs: endMs, mode: 'even' },
      ...{ velocity: 1.2, finishEarlyPct: 0, dailyMin: undefined, dailyMax: undefined, timeZone: 'UTC' },
    };
    const line = {
      paced,
      closedUsed: 0,
      decided: 0,
      delivered: 0,
      plan,
      cohorts: new Map(),
      changed: new Set<number>(),
    };
    return { ...line, pacer: newPacer(line) };
  });
  const byOrdinal = world.index.lines.map(({ lineItemId }) =>
    lines.find((line) => line.paced.lineItemId === lineItemId),
  );
  const shares = new Map<number, Share>();

  let epochs = 0;
  let nodes = Array.from({ length: 8 }, (_, at) => newNode(++epochs, 1 / (at + 2)));
  let [broken, plays, distances, distanceSum, distanceWorst] = [0, 0, 0, 0, 0];
  let pacerLostUntilMs = 0;

  function closeNode(node: SimulatedNode): void {
    for (const line of lines) {
      const lease = node.leases.get(line.paced.lineItemId);
      if (lease) line.closedUsed += lease.used;
      line.pacer.closedUsed = line.closedUsed;
    }
    node.leases = new Map();
  }

  function paceLine(line: Line, atMs: number): void {
    const { pacer, paced } = line;
    const id = paced.lineItemId;
    const live = nodes.filter((node) => node.downUntilMs <= atMs);
    // A node that was killed seconds ago still holds its lease.
    const holding = nodes.filter((node) => node.downUntilMs > atMs && node.leases.has(id));
    pacer.shares.report(
      live.flatMap((node) => (node.asked.has(id) ? [{ nodeEpoch: node.epoch, asked: node.asked.get(id)! }] : [])),
      atMs,
    );
    const demand = pacer.shares.sharesOf(live.map((node) => node.epoch));
    const all = [...live, ...holding];
    const leases = () => all.map((node, at) => leaseOf(node, id, demand[at] ?? 0));
    const usedOpen = leases().reduce((sum, lease) => sum + lease.used, 0);
    const { maxGranted, quota } = pacer.tick({ atMs, usedOpen, budget: Infinity, ratePrior: undefined });
    const change = (grants: readonly (number | undefined)[]) =>
      grants.forEach((granted, at) => {
        if (granted !== undefined) grantTo(all[at]!, id, granted, bucketOf(quota, demand[at] ?? 0), atMs);
      });
    change(lowerGrants({ maxGranted, quota: quota.units, leases: leases() }));
    const raised = raiseGrants({ maxGranted, quota: quota.units, leases: leases() });
    change(raised);
    live.forEach((node, at) => {
      const lease = node.leases.get(id);
      const bucket = bucketOf(quota, demand[at]!);
      if (lease && isStaleRate(lease.ratePerS, bucket.ratePerS)) grantTo(node, id, lease.granted, bucket, atMs);
    });
    const granted = leases().reduce((sum, lease) => sum + lease.granted, 0);
    if (raised.some((to) => to !== undefined) && granted > maxGranted) broken++;
  }

  function learn(atMs: number): void {
    const watermarkMs = sink.count(atMs);
    for (const line of lines) {
      for (const quarter of line.changed) {
        const { decided, delivered } = line.cohorts.get(quarter)!;
        line.pacer.putCohorts([
          {
            ...{ lineItemId: line.paced.lineItemId, surfaceClass: 'download', quarterMs: quarter * quarterMs, decided },
            ...{ served: delivered, delivered, held: 0, clientStarted: 0, clientCompleted: 0 },
          },
        ]);
      }
      line.changed.clear();
      line.pacer.settle(watermarkMs, { download: curve });
    }
  }

  function play(podcast: number, atMs: number): void {
    let pick = draws.unit() * nodes.reduce((sum, node) => sum + node.weight, 0);
    const up = nodes.find((node) => (pick -= node.weight) < 0) ?? nodes[0]!;
    const node = up.downUntilMs > atMs || up.pausedUntilMs > atMs ? nodes.find((one) => one.downUntilMs <= atMs)! : up;
    const context: DecisionContext = {
      ...{ decisionId: `dec_${seed}_${plays++}`, podcastId: world.podcasts[podcast]!, episodeId: 'ep', country: 'DE' },
      ...{
        region: '',
        surface: 'progressive',
        device: '',
        operatingSystem: '',
        app: '',
        language: '',
        explicit: false,
      },
      ...{ contentCategories: [], publishedAtMs: startMs, loudnessLufs: -16, adLoadLimitMs: undefined },
      ...{ streamFormat: 'mp3', atMs },
      breaks: (['pre', 'mid'] as const).map((position, at) => ({
        ...{ key: position, position, maxSlots: 1, maxDurationMs: 60_000, positionMs: at * 600_000, slotRules: [] },
      })),
    };
    const asked = new Set<number>();
    const { picks, opportunities } = decide(world.index, context, {
      remaining: (ordinal) => {
        const line = byOrdinal[ordinal]!;
        asked.add(ordinal);
        return creditOf(node.leases.get(line.paced.lineItemId), atMs);
      },
      share: (ordinal) => shares.get(ordinal) ?? { served: 0, opportunities: 0 },
      frequencyRecord: () => 0,
    });
    for (const ordinal of asked) {
      const id = byOrdinal[ordinal]!.paced.lineItemId;
      node.asked.set(id, (node.asked.get(id) ?? 0) + 1);
    }
    for (const lineItemId of opportunities) {
      const ordinal = world.index.lines.findIndex((line) => line.lineItemId === lineItemId);
      const before = shares.get(ordinal) ?? { served: 0, opportunities: 0 };
      const served = picks.filter((one) => one.ordinal === ordinal).length > before.served % 1 ? 1 : 0;
      shares.set(ordinal, { served: before.served + Math.min(served, 1), opportunities: before.opportunities + 1 });
    }
    for (const { ordinal } of picks) if (byOrdinal[ordinal]) serve(byOrdinal[ordinal], node, atMs);
  }

  function serve(line: Line, node: SimulatedNode, atMs: number): void {
    const lease = node.leases.get(line.paced.lineItemId);
    // The constraint of the row.
    if (!lease || lease.used >= lease.granted) return void broken++;
    lease.used++;
    lease.level--;
    line.decided++;
    const quarter = Math.floor(atMs / quarterMs);
    sink.add(atMs, { line, quarter, isDelivery: false });
    const delay = deliveryDelay(draws, atMs >= endMs - dayMs ? lastDayRate : deliveryRate);
    if (delay === undefined) return;
    line.delivered++;
    sink.add(atMs + delay, { line, quarter, isDelivery: true });
  }

  function breakThings(atMs: number): void {
    // Twelve kills in five days, and as many nodes that sleep for a minute.
    const chance = (12 * tickMs) / (5 * dayMs);
    if (draws.unit() < chance) nodes[draws.below(nodes.length)]!.downUntilMs = atMs + 15 * secondMs;
    if (draws.unit() < chance) {
      // The pacer takes it for dead; it comes back under a new epoch.
      const node = nodes[draws.below(nodes.length)]!;
      node.downUntilMs = atMs + minuteMs;
    }
    if (draws.unit() < (2 * tickMs) / (5 * dayMs)) pacerLostUntilMs = atMs + 10 * minuteMs;
  }

  function reviveNodes(atMs: number): void {
    nodes = nodes.map((node) => {
      if (node.downUntilMs === 0 || node.downUntilMs > atMs) return node;
      closeNode(node);
      return newNode(++epochs, node.weight);
    });
  }

  function measureDistance(): void {
    for (const { pacer, paced } of lines) {
      const { committed, target } = pacer.moment()!;
      const distance = (Math.abs(committed - target) / paced.goal) * 100;
      distanceSum += distance;
      distances++;
      distanceWorst = Math.max(distanceWorst, distance);
    }
  }

  function playFor(atMs: number): void {
    const hour = Math.floor((atMs - startMs) / hourMs);
    world.plays.forEach((hours, podcast) => {
      const expected = (hours[hour]! * tickMs) / hourMs;
      for (let left = expected; left > 0; left--)
        if (left >= 1 || draws.unit() < left) play(podcast, atMs + draws.unit() * tickMs);
    });
  }

  for (let atMs = startMs; atMs < endMs; atMs += tickMs) {
    if (faults) breakThings(atMs);
    if (pacerLostUntilMs <= atMs) {
      if (pacerLostUntilMs > 0) {
        // Another process begins with what this one kept.
        for (const line of lines) line.pacer = newPacer(line, line.pacer);
        for (const line of lines) for (const quarter of line.cohorts.keys()) line.changed.add(quarter);
        pacerLostUntilMs = 0;
        learn(atMs);
      }
      reviveNodes(atMs);
      if (atMs % minuteMs < tickMs) learn(atMs);
      for (const line of lines) paceLine(line, atMs);
      if (atMs % hourMs < tickMs && atMs > startMs) measureDistance();
    }
    playFor(atMs);
  }
  return {
    ...deliveredOf(lines),
    ...{ distanceMean: distanceSum / distances, distanceWorst, broken, plays },
  };
}
