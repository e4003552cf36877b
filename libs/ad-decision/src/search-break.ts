import type { Candidate, CandidateCreative } from './screen-candidate.ts';
import { tiers } from './plan-index.ts';

/** Most candidates of one search: a set of them is one 32-bit word, and their places fit a number. */
const maxCandidates = 24;
/** Nodes of one search; the best of those seen stands when they are used up, at least the greedy one. */
const maxNodes = 400;
/** More than the slots of a break, so that counts per class of rank are digits of one number. */
const countBase = 17;
const maxPriorities = 10;
const leaderBase = maxCandidates + 1;

/** How many candidates one search takes: enough to choose from, no more than it can hold. */
export const poolMaxOf = (maxAds: number) => Math.min(maxCandidates, 4 + 4 * maxAds);

/** A candidate and the creative that it serves. */
export interface Chosen {
  readonly candidate: Candidate;
  readonly served: CandidateCreative;
}

/** The worth of a set of ads: each number matters only where those before it are equal. */
interface Worth {
  /** Sponsorships, then guaranteed ads of priority 1, of priority 2 …: how many, as digits. */
  readonly ranked: number;
  /** How many ads of urgency 3, of 2 and of 1, as digits. */
  readonly urgent: number;
  /** Prices of the ads that compete by price, together. */
  readonly priceMicros: number;
  readonly house: number;
  /** Per tier the place of its best candidate, as digits; smaller is better. */
  readonly leaders: number;
  readonly durationMs: number;
}

const nothing: Worth = { ranked: 0, urgent: 0, priceMicros: 0, house: 0, leaders: leaderBase ** 4 - 1, durationMs: 0 };

function compareWorth(a: Worth, b: Worth): number {
  return (
    a.ranked - b.ranked ||
    a.urgent - b.urgent ||
    a.priceMicros - b.priceMicros ||
    a.house - b.house ||
    b.leaders - a.leaders ||
    a.durationMs - b.durationMs
  );
}

const rankedWorth = ({ line: { tier, priority } }: Candidate) =>
  tier > tiers.guaranteed ? 0 : countBase ** (tier === tiers.sponsorship ? maxPriorities : maxPriorities - priority);
const urgentOf = ({ urgency }: Candidate) => (urgency === 0 ? 0 : countBase ** (urgency - 1));
/** An ad without a price is still worth more than none. */
const priceOf = ({ line }: Candidate) => (line.tier === tiers.non_guaranteed ? line.cpmMicros + 1 : 0);
const houseOf = ({ line }: Candidate) => (line.tier === tiers.house ? 1 : 0);
const leaderDigit = (tier: number) => leaderBase ** (tiers.house - tier);

/**
 * Gives each of the ads a slot that takes it, the earlier ones the earlier slots; undefined when that cannot be.
 * @param slots per ad a mask of the slots that take it
 */
export function assignSlots(slots: readonly number[]): readonly number[] | undefined {
  const owner = new Map<number, number>();
  const augment = (ad: number, tried: Set<number>, fixed: ReadonlySet<number>): boolean => {
    for (let slot = 0, mask = slots[ad]!; mask !== 0; slot++, mask >>>= 1) {
      if ((mask & 1) === 0 || tried.has(slot) || fixed.has(slot)) continue;
      tried.add(slot);
      const other = owner.get(slot);
      if (other !== undefined && !augment(other, tried, fixed)) continue;
      owner.set(slot, ad);
      return true;
    }
    return false;
  };
  for (let ad = 0; ad < slots.length; ad++) if (!augment(ad, new Set(), new Set())) return undefined;

  const assigned: number[] = [];
  for (let ad = 0; ad < slots.length; ad++) {
    for (let slot = 0, mask = slots[ad]!; mask !== 0; slot++, mask >>>= 1) {
      if ((mask & 1) === 0 || assigned.includes(slot)) continue;
      owner.clear();
      const fixed = new Set([...assigned, slot]);
      const rest = Array.from({ length: slots.length - ad - 1 }, (_, at) => ad + 1 + at);
      if (!rest.every((other) => augment(other, new Set(), fixed))) continue;
      assigned.push(slot);
      break;
    }
  }
  return assigned;
}

/** Upper bounds of what the candidates from each place on can still add. */
function boundsOf(candidates: readonly Candidate[]) {
  const sums = (value: (candidate: Candidate, at: number) => number) => {
    const prefix = [0];
    candidates.forEach((one, at) => prefix.push(prefix[at]! + value(one, at)));
    return prefix;
  };
  /** Per tier the place of its first candidate or of the first after it. */
  const starts: number[] = [];
  for (let tier = 0, at = 0; tier <= tiers.house; tier++) {
    while (at < candidates.length && candidates[at]!.line.tier < tier) at++;
    starts.push(at);
  }
  const [ranked, prices, house] = [sums(rankedWorth), sums(priceOf), sums(houseOf)];
  // They are not in the order of their urgency: from each place on the most urgent ones come first.
  const urgent = candidates.some((one) => one.urgency > 0)
    ? candidates.map((_, from) => {
        const rest = candidates
          .slice(from)
          .map(urgentOf)
          .sort((a, b) => b - a);
        return sums((_one, at) => rest[at] ?? 0);
      })
    : [];
  const longest = candidates.map((one) => Math.max(...one.creatives.map(({ stream }) => stream.durationMs)));
  for (let at = longest.length - 2; at >= 0; at--) longest[at] = Math.max(longest[at]!, longest[at + 1]!);
  const most = (prefix: readonly number[], from: number, count: number) =>
    prefix[Math.min(from + count, candidates.length)]! - prefix[Math.min(from, candidates.length)]!;

  return (from: number, now: Worth, slotsLeft: number, limitMs: number): Worth => {
    let leaders = now.leaders;
    for (let tier: number = tiers.sponsorship; tier <= tiers.house; tier++) {
      const digit = leaderDigit(tier);
      if (Math.floor(now.leaders / digit) % leaderBase !== maxCandidates) continue;
      const next = Math.max(from, starts[tier]!);
      if (candidates[next]?.line.tier === tier) leaders += (next - maxCandidates) * digit;
    }
    return {
      ranked: now.ranked + most(ranked, from, slotsLeft),
      urgent: now.urgent + (urgent[from]?.[Math.min(slotsLeft, candidates.length)] ?? 0),
      priceMicros: now.priceMicros + most(prices, Math.max(from, starts[tiers.non_guaranteed]!), slotsLeft),
      house: now.house + most(house, Math.max(from, starts[tiers.house]!), slotsLeft),
      leaders,
      durationMs: Math.min(limitMs, now.durationMs + slotsLeft * (longest[from] ?? 0)),
    };
  };
}

/**
 * The best set of ads for a break, by depth-first search over at most 24 candidates in rank order and 400 nodes: most ads of the
 * highest rank, then most urgent ones, then the highest price of those that compete by price, then most house ads. Of sets equal in that the one that
 * holds the best placed candidate of each tier, so that share, hash and weight decide who serves and short ads are not starved;
 * then the one that fills most seconds.
 * @param separated per candidate a mask of those that it may not share the break with
 * @param room slots of the break, the ads that may fill them, and the milliseconds for all of them
 */
export function searchBreak(
  candidates: readonly Candidate[],
  separated: readonly number[],
  { slotCount, maxAds, limitMs }: { readonly slotCount: number; readonly maxAds: number; readonly limitMs: number },
): readonly Chosen[] {
  const [first] = candidates;
  if (maxAds === 1 || !first) return first ? [{ candidate: first, served: first.creatives[0]! }] : [];
  const everySlot = (1 << slotCount) - 1;
  const anySlot = candidates.every((one) => one.creatives.every(({ slots }) => slots === everySlot));
  const boundOf = boundsOf(candidates);
  const chosen: Chosen[] = [];
  let best: { worth: Worth; chosen: readonly Chosen[] } = { worth: nothing, chosen: [] };
  let nodes = 0;

  const findFitting = (candidate: Candidate, leftMs: number) =>
    candidate.creatives.find(
      (creative) =>
        creative.stream.durationMs <= leftMs &&
        (anySlot || assignSlots([...chosen.map((one) => one.served.slots), creative.slots]) !== undefined),
    );

  function visit(from: number, worth: Worth, members: number): void {
    if (++nodes > maxNodes) return;
    if (compareWorth(worth, best.worth) > 0) best = { worth, chosen: [...chosen] };
    const slotsLeft = maxAds - chosen.length;
    if (from === candidates.length || slotsLeft === 0 || worth.durationMs >= limitMs) return;
    if (compareWorth(boundOf(from, worth, slotsLeft, limitMs), best.worth) <= 0) return;
    const candidate = candidates[from]!;
    const served = (separated[from]! & members) === 0 ? findFitting(candidate, limitMs - worth.durationMs) : undefined;
    if (served) {
      const { tier } = candidate.line;
      const digit = leaderDigit(tier);
      const leads = Math.floor(worth.leaders / digit) % leaderBase === maxCandidates;
      const more: Worth = {
        ranked: worth.ranked + rankedWorth(candidate),
        urgent: worth.urgent + urgentOf(candidate),
        priceMicros: worth.priceMicros + priceOf(candidate),
        house: worth.house + houseOf(candidate),
        leaders: leads ? worth.leaders + (from - maxCandidates) * digit : worth.leaders,
        durationMs: worth.durationMs + served.stream.durationMs,
      };
      chosen.push({ candidate, served });
      visit(from + 1, more, members | (1 << from));
      chosen.pop();
    }
    visit(from + 1, worth, members);
  }
  visit(0, nothing, 0);
  return best.chosen;
}
