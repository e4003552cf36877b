import { addBit, createUrgency, decide, type Share } from '@longwave/ad-decision';
import { quarterMs } from '../cohort.ts';
import { deliveryDelay, measuredCurve } from './simulated-delivery.ts';
import {
  budgetOf,
  changePrices,
  countServing,
  createLines,
  pickWeighted,
  type SimulatedLine,
} from './simulated-lines.ts';
import { measure, type SimulatedResult } from './simulated-measures.ts';
import { creditOf, loseCredit, newNode, readLeases, spend, type SimulatedNode } from './simulated-nodes.ts';
import { createPacer, type SimulatedPacer } from './simulated-pacer.ts';
import { createSink } from './simulated-sink.ts';
import { createTables, type Statement } from './simulated-tables.ts';
import {
  createDraws,
  createWorld,
  playOf,
  startMs,
  type Market,
  type Sell,
  type WorldOptions,
} from './simulated-world.ts';

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const skewMs = 30_000;
const nodeCount = 8;

export interface SimulationOptions extends WorldOptions {
  /** How late the sink counts. */
  readonly lagMs: number;
  /**
   * Nodes are killed, and stopped for a minute with all that they believe; the pacer is lost for ten minutes, and another one begins while
   * its statements are still on their way; the bus is away for an hour; clocks of nodes are up to 30 s off.
   */
  readonly faults: boolean;
  /** The delivery rate, and that of the last day. */
  readonly deliveryRate: number;
  readonly lastDayRate: number;
  /** The plan says nothing of the hours. */
  readonly withoutPlan?: boolean;
  readonly tickMs?: number;
  /** Leases that were closed refuse nothing: what is measured then is wrong. */
  readonly isUnsafe?: boolean;
}

export type { Market, Sell, SimulatedResult };

/** Runs the real core and the real pacing over a made-up world; the same options give the same result. */
export function simulatePacing(options: SimulationOptions): SimulatedResult {
  const { seed, lagMs, faults, deliveryRate, lastDayRate, tickMs = 5 * secondMs, isUnsafe = false } = options;
  const world = createWorld(options);
  const draws = createDraws(seed + 1_000_003);
  const curve = measuredCurve(draws, deliveryRate);
  const sink = createSink(startMs, lagMs);
  const tables = createTables(isUnsafe);
  const { endMs } = world;
  const lines = createLines(world);
  const lineItemIds = lines.map(({ paced }) => paced.lineItemId);
  const budgetMicros = budgetOf(lines);
  const measures = measure(lines, world, budgetMicros);
  const byOrdinal = world.index.lines.map(({ lineItemId }) =>
    lines.find((line) => line.paced.lineItemId === lineItemId),
  );
  const ordinals = new Map(world.index.lines.map(({ lineItemId }, ordinal) => [lineItemId, ordinal]));
  const pacerWorld = {
    ...{ tables, lines, budgetMicros, curve, deliveryRate, planStartsAtMs: options.withoutPlan ? undefined : startMs },
  };
  const nodes: SimulatedNode[] = Array.from({ length: nodeCount }, (_, at) =>
    newNode(tables, startMs, {
      weight: 1 / (at + 2),
      skewMs: faults ? Math.round(skewMs * (2 * draws.unit() - 1)) : 0,
    }),
  );
  /** By chance, so many times in five days. */
  const happens = (times: number) => draws.unit() < (times * tickMs) / (5 * dayMs);
  let pacer = createPacer(tables.takeTerm(), pacerWorld, new Map());
  let kept = pacer.keep();
  let pacerLostUntilMs = 0;
  /** Raisings of pacers that were stopped before they sent them. */
  let late: { readonly statement: Statement; readonly atMs: number }[] = [];
  /** What nodes know of shares: sums that they read once a tick. */
  let shares = new Map<number, Share>();
  /** What nodes know of line items that are behind. */
  let urgency = createUrgency(world.index.lines.length);
  let plays = 0;

  const isUp = (node: SimulatedNode, atMs: number) => node.downUntilMs <= atMs && node.pausedUntilMs <= atMs;

  /** Decides as a node does: again where its rows refuse what it believes to have. */
  function play(podcast: number, atMs: number): void {
    const up = nodes.filter((node) => isUp(node, atMs));
    if (up.length === 0) return;
    const node = pickWeighted(draws, up);
    const context = { ...playOf(podcast, atMs + node.skewMs), decisionId: `dec_${seed}_${plays++}` };
    for (;;) {
      const asked = new Set<string>();
      const { picks, opportunities } = decide(world.index, context, {
        remaining: (ordinal) => {
          const { lineItemId } = byOrdinal[ordinal]!.paced;
          asked.add(lineItemId);
          return creditOf(node, lineItemId, atMs);
        },
        share: (ordinal) => shares.get(ordinal) ?? { served: 0, opportunities: 0 },
        urgency,
        frequencyRecord: () => 0,
      });
      const taken = picks.flatMap(({ ordinal }) => byOrdinal[ordinal] ?? []);
      const slotsOf = (line: SimulatedLine) => taken.filter((one) => one === line).length;
      const refused = taken.filter((line) => !tables.hasUnits(node.epoch, line.paced.lineItemId, slotsOf(line)));
      if (refused.length > 0) {
        measures.refuse(refused.length);
        for (const { paced } of refused) loseCredit(node, paced.lineItemId);
        continue;
      }
      for (const id of asked) node.asked.set(id, (node.asked.get(id) ?? 0) + 1);
      for (const id of opportunities) measures.addShare(ordinals.get(id)!, atMs, 0, 1);
      for (const { ordinal } of picks) if (!byOrdinal[ordinal]) measures.addShare(ordinal, atMs, 1, 0);
      for (const line of taken) serve(line, node, atMs);
      return;
    }
  }

  function serve(line: SimulatedLine, node: SimulatedNode, atMs: number): void {
    const { lineItemId } = line.paced;
    spend(node, lineItemId);
    tables.use(node.epoch, lineItemId);
    const quarter = Math.floor((atMs + node.skewMs) / quarterMs);
    sink.add(atMs, { lineItemId, quarter, isDelivery: false });
    const delay = deliveryDelay(draws, atMs >= endMs - dayMs ? lastDayRate : deliveryRate);
    countServing(line, atMs, delay !== undefined);
    if (delay !== undefined) sink.add(atMs + delay, { lineItemId, quarter, isDelivery: true });
  }

  function breakThings(atMs: number): void {
    if (happens(12)) pickWeighted(draws, nodes).downUntilMs = atMs + 5 * secondMs;
    // It wakes between two of its reports, and gives what it believes to have.
    if (happens(40)) pickWeighted(draws, nodes).pausedUntilMs = atMs + minuteMs + draws.unit() * tickMs;
    if (happens(2)) pacerLostUntilMs = Math.max(pacerLostUntilMs, atMs + 10 * minuteMs);
    if (happens(2)) sink.stop(atMs + hourMs);
    // It stops between reading and raising; another one begins when its term is over.
    if (happens(6) && pacerLostUntilMs <= atMs) {
      late.push({ statement: pacer.tick(atMs), atMs: atMs + 2 * minuteMs });
      pacerLostUntilMs = atMs + 10 * secondMs;
    }
  }

  /** Nodes that live report; one that was closed, or killed, begins anew. */
  function reportNodes(atMs: number): void {
    nodes.forEach((node, at) => {
      if (!isUp(node, atMs)) return;
      const wasKilled = node.downUntilMs > 0;
      if (wasKilled || !tables.report(node.epoch, atMs, node.asked)) nodes[at] = newNode(tables, atMs, node);
    });
  }

  function takeOver(atMs: number): SimulatedPacer {
    const next = createPacer(tables.takeTerm(), pacerWorld, kept);
    next.learn(sink.count(atMs).watermarkMs, sink.all());
    pacerLostUntilMs = 0;
    return next;
  }

  function tick(atMs: number): void {
    if (pacerLostUntilMs > 0) pacer = takeOver(atMs);
    if (atMs % minuteMs < tickMs) {
      const { watermarkMs, changed } = sink.count(atMs);
      pacer.learn(watermarkMs, changed);
    }
    tables.run(pacer.tick(atMs));
    measures.check(pacer, tables);
    kept = pacer.keep();
    urgency = urgencyNow();
    if (atMs % hourMs < tickMs && atMs > startMs) measures.addDistances(pacer);
  }

  function urgencyNow(): typeof urgency {
    const levels = createUrgency(world.index.lines.length);
    for (const lineItemId of lineItemIds) {
      const level = pacer.of(lineItemId).moment()!.urgency;
      if (level > 0) addBit(levels[level - 1]!, ordinals.get(lineItemId)!);
    }
    return levels;
  }

  function playFor(atMs: number): void {
    // In the order of time: clocks of nodes never step back.
    const hour = Math.floor((atMs - startMs) / hourMs);
    const coming: { readonly podcast: number; readonly atMs: number }[] = [];
    world.plays.forEach((hours, podcast) => {
      for (let left = (hours[hour]! * tickMs) / hourMs; left > 0; left--)
        if (left >= 1 || draws.unit() < left) coming.push({ podcast, atMs: atMs + draws.unit() * tickMs });
    });
    coming.sort((a, b) => a.atMs - b.atMs);
    for (const one of coming) play(one.podcast, one.atMs);
  }

  const priceChangeMs = startMs + Math.floor((endMs - startMs) / 2 / hourMs) * hourMs;

  function step(atMs: number): void {
    if (faults) breakThings(atMs);
    if (atMs - tickMs < priceChangeMs && priceChangeMs <= atMs) changePrices(lines);
    reportNodes(atMs);
    if (pacerLostUntilMs <= atMs) tick(atMs);
    for (const { statement } of late.filter((one) => one.atMs <= atMs)) {
      tables.run(statement);
      measures.check(pacer, tables);
    }
    late = late.filter((one) => one.atMs > atMs);
    for (const node of nodes) if (isUp(node, atMs)) readLeases(tables, node, lineItemIds, atMs);
    shares = measures.shares(atMs);
    playFor(atMs);
  }

  for (let atMs = startMs; atMs < endMs; atMs += tickMs) step(atMs);
  return { ...measures.result(pacer), plays, booked: 100 * world.booked };
}
