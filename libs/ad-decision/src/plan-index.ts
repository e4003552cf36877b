import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';
import { addBit, createBits, unite, type Bits } from './bitset.ts';
import { indexCreatives, type IndexedCreative } from './index-creatives.ts';

/** Strictly ordered: everything of a lower tier number goes before everything of a higher one (design: commands.md §2). */
export const tiers = { exclusive: 0, sponsorship: 1, guaranteed: 2, non_guaranteed: 3, house: 4 } as const;

export type Tier = (typeof tiers)[PlanLineItem['type']];
export type BreakPosition = PlanLineItem['break_positions'][number];

/** A line item under its ordinal. */
export interface IndexedLine {
  readonly lineItemId: string;
  readonly campaignId: string;
  readonly advertiserId: string;
  readonly tier: Tier;
  readonly priority: number;
  /** Half-open [startMs, endMs). */
  readonly startMs: number;
  readonly endMs: number;
  /** Impressions it may have in all; undefined when unlimited. */
  readonly goalQuantity: number | undefined;
  readonly billable: boolean;
  readonly creativesByFormat: ReadonlyMap<string, readonly IndexedCreative[]>;
}

/** Ordinals [from, to) of one tier and priority. */
export interface RankGroup {
  readonly tier: Tier;
  readonly from: number;
  readonly to: number;
}

/** Few values: per value the lines that may serve there; `others` for every value the plan does not name. */
export interface ValueBits {
  readonly byValue: ReadonlyMap<string, Bits>;
  readonly others: Bits;
}

/** Many values: lines without a list, and per value the ordinals that list it, ascending. */
export interface Postings {
  readonly unconstrained: Bits;
  readonly byValue: ReadonlyMap<string, readonly number[]>;
}

/** A compiled serving plan. Immutable; ordinals follow the rank (tier, priority, id), so a smaller one is never outranked. */
export interface PlanIndex {
  readonly lines: readonly IndexedLine[];
  readonly groups: readonly RankGroup[];
  readonly positions: ValueBits;
  readonly countries: ValueBits;
  readonly streamFormats: ValueBits;
  readonly podcasts: Postings;
  readonly episodes: Postings;
  /** Lines whose window is open. */
  readonly activeAt: (atMs: number) => Bits;
}

/** The sort key of a candidate holds a 32-bit hash and the ordinal in one double. */
const lineItemsMax = 2 ** 20;

function parseInstant(text: string, lineItemId: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new RangeError(`The window of ${lineItemId} is no instant: ${text.slice(0, 40)}`);
  return ms;
}

function indexLine(line: PlanLineItem): IndexedLine {
  if (line.goal.unit === 'impressions' && line.goal.quantity === undefined)
    throw new RangeError(`${line.line_item_id} counts impressions and has no quantity`);
  return {
    lineItemId: line.line_item_id,
    campaignId: line.campaign_id,
    advertiserId: line.advertiser_id,
    tier: tiers[line.type],
    priority: line.priority,
    startMs: parseInstant(line.window.start, line.line_item_id),
    endMs: parseInstant(line.window.end, line.line_item_id),
    goalQuantity: line.goal.quantity,
    billable: line.billable,
    creativesByFormat: indexCreatives(line),
  };
}

/** @param anyWhenEmpty whether a line that lists nothing may serve everywhere or nowhere */
function indexValues(lists: readonly Iterable<string>[], anyWhenEmpty: boolean): ValueBits {
  const others = createBits(lists.length);
  const byValue = new Map<string, Bits>();
  lists.forEach((list, ordinal) => {
    let empty = true;
    for (const value of list) {
      empty = false;
      const bits = byValue.get(value) ?? createBits(lists.length);
      byValue.set(value, bits);
      addBit(bits, ordinal);
    }
    if (empty && anyWhenEmpty) addBit(others, ordinal);
  });
  for (const bits of byValue.values()) unite(bits, others);
  return { byValue, others };
}

function indexPostings(lists: readonly (readonly string[])[]): Postings {
  const unconstrained = createBits(lists.length);
  const byValue = new Map<string, number[]>();
  lists.forEach((list, ordinal) => {
    if (list.length === 0) addBit(unconstrained, ordinal);
    for (const value of new Set(list)) {
      const postings = byValue.get(value);
      if (postings) postings.push(ordinal);
      else byValue.set(value, [ordinal]);
    }
  });
  return { unconstrained, byValue };
}

/** Between two window edges the active set is constant, so the last one is kept: one binary search per call. */
function indexWindows(lines: readonly IndexedLine[]): (atMs: number) => Bits {
  const edges = Float64Array.from(new Set(lines.flatMap((line) => [line.startMs, line.endMs]))).sort();
  let last = { edge: -1, bits: createBits(lines.length) };
  return (atMs) => {
    let edge = 0;
    for (let high = edges.length; edge < high;) {
      const middle = (edge + high) >>> 1;
      if (edges[middle]! <= atMs) edge = middle + 1;
      else high = middle;
    }
    if (last.edge === edge) return last.bits;
    const bits = createBits(lines.length);
    lines.forEach((line, ordinal) => {
      if (line.startMs <= atMs && atMs < line.endMs) addBit(bits, ordinal);
    });
    last = { edge, bits };
    return bits;
  };
}

function rankGroups(lines: readonly IndexedLine[]): RankGroup[] {
  const groups: RankGroup[] = [];
  for (let from = 0, to = 0; from < lines.length; from = to) {
    const { tier, priority } = lines[from]!;
    while (lines[to]?.tier === tier && lines[to]?.priority === priority) to++;
    groups.push({ tier, from, to });
  }
  return groups;
}

/**
 * Compiles a serving plan for `decide`. Empty podcast, episode and country lists mean any; a line serves only at the break
 * positions that it lists. Priority 1 goes before priority 10.
 * Throws `RangeError` for a plan that cannot be meant: a line item twice, a window that is no time, a goal without quantity,
 * more than 2^20 line items.
 */
export function buildIndex(plan: ServingPlanDocument): PlanIndex {
  if (plan.line_items.length > lineItemsMax) throw new RangeError(`A plan holds at most ${lineItemsMax} line items`);
  const sorted = plan.line_items.toSorted(
    (a, b) => tiers[a.type] - tiers[b.type] || a.priority - b.priority || (a.line_item_id < b.line_item_id ? -1 : 1),
  );
  const lines = sorted.map(indexLine);
  const ids = new Set<string>();
  for (const { lineItemId } of lines) {
    if (ids.has(lineItemId)) throw new RangeError(`The plan names ${lineItemId} twice`);
    ids.add(lineItemId);
  }
  return {
    lines,
    groups: rankGroups(lines),
    positions: indexValues(
      sorted.map((line) => line.break_positions),
      false,
    ),
    countries: indexValues(
      sorted.map((line) => line.targeting.countries.include),
      true,
    ),
    streamFormats: indexValues(
      lines.map((line) => line.creativesByFormat.keys()),
      false,
    ),
    podcasts: indexPostings(sorted.map((line) => line.targeting.podcasts.include)),
    episodes: indexPostings(sorted.map((line) => line.targeting.episodes.include)),
    activeAt: indexWindows(lines),
  };
}
