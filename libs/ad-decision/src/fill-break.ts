import type { VerdictCode } from './codes.ts';
import { decisionHash, weighByHash } from './decision-hash.ts';
import type { Eligibility } from './eligibility.ts';
import { nextBit } from './bitset.ts';
import { divideCandidates, type CandidateSets } from './candidate-sets.ts';
import { tiers } from './plan-index.ts';
import { screenCandidate, shareDeficit, type Candidate, type Screening } from './screen-candidate.ts';
import { assignSlots, poolMaxOf, searchBreak, type Chosen } from './search-break.ts';
import { separationOf } from './separation.ts';
import { walkCandidates, type RankKey } from './walk-candidates.ts';

/** Candidates that may serve but do not fit: after so many of one tier the next tier has its turn. */
const maxMisfitsPerTier = 24;
/** Candidates considered for one break; bounds the worst case of a plan full of finished goals. */
const maxConsidered = 4096;

const misfitCodes: ReadonlySet<VerdictCode> = new Set([
  'separated_advertiser',
  'separated_group',
  'separated_category',
  'policy_separation',
  'policy_ad_load',
  'duration_too_long',
  'ad_load',
  'slot_rule',
  'position_taken',
]);

interface Placement extends Chosen {
  /** 0-based within the break. */
  readonly slot: number;
}

export interface FilledBreak {
  readonly placements: readonly Placement[];
  /** Every candidate that was considered, in rank order, with its verdict. */
  readonly considered: ReadonlyMap<number, VerdictCode>;
  /** Line items with a share that could have served here. */
  readonly opportunities: readonly number[];
  /** True when nothing more could have been placed, whatever the plan holds. */
  readonly full: boolean;
  readonly sets: CandidateSets;
  /** Why candidates that were not considered do not serve, unless they are without credit. */
  readonly rest: 'outranked' | 'policy_ad_load';
}

/** The order of equals in one tier: weight, lack of share, or the hash alone. */
function rankKeyOf({ index, seed, shareOf }: Screening, tier: number): RankKey {
  if (tier === tiers.exclusive || tier === tiers.house)
    return (ordinal) => weighByHash(decisionHash(seed, ordinal), index.lines[ordinal]!.weight);
  if (tier !== tiers.sponsorship) return (ordinal) => decisionHash(seed, ordinal);
  return (ordinal) => {
    const lacking = Math.max(-1, Math.min(1, shareDeficit(index.lines[ordinal]!, shareOf(ordinal))));
    return Math.floor(((1 - lacking) / 2) * (2 ** 20 - 1)) * 2 ** 12 + (decisionHash(seed, ordinal) >>> 20);
  };
}

const urgencyLevels = [3, 2, 1, 0] as const;
const allLevels = [undefined];

/** The line items of a tier that may be looked at, best first: of guaranteed equals those with more urgency. */
function* walkTier(screening: Screening, sets: CandidateSets, tier: number): Generator<number> {
  const { index, seed } = screening;
  const end = index.tierEnds[tier]!;
  const keyOf = rankKeyOf(screening, tier);
  const levels = tier === tiers.guaranteed && sets.urgency ? urgencyLevels : allLevels;
  let from = tier === 0 ? 0 : index.tierEnds[tier - 1]!;
  for (let first = nextBit(sets.eligible, from, end); first >= 0; first = nextBit(sets.eligible, from, end)) {
    from = index.groupEnds[first]!;
    for (const level of levels) yield* walkCandidates(sets, first, from, { seed, keyOf, level });
  }
}

function separationBetween(screening: Screening, one: Candidate, other: Candidate): VerdictCode | undefined {
  const { adBreak } = screening;
  return separationOf(screening, { line: one.line, adBreak }, { line: other.line, adBreak });
}

/** Puts those last among equals whose creative plays in a neighbouring break. */
function sortPool({ index: { groupEnds } }: Screening, pool: Candidate[]): void {
  if (!pool.some((one) => one.repeats)) return;
  pool.sort(
    (a, b) =>
      groupEnds[a.ordinal]! - groupEnds[b.ordinal]! || b.urgency - a.urgency || Number(a.repeats) - Number(b.repeats),
  );
}

function chooseFrom(screening: Screening, pool: readonly Candidate[]): readonly Chosen[] {
  const { slotCount, maxAds, limitMs } = screening;
  if (maxAds === 1) return searchBreak(pool, [], { slotCount, maxAds, limitMs });
  const separated = pool.map(() => 0);
  for (let one = 0; one < pool.length; one++)
    for (let other = one + 1; other < pool.length; other++) {
      if (!separationBetween(screening, pool[one]!, pool[other]!)) continue;
      separated[one]! |= 1 << other;
      separated[other]! |= 1 << one;
    }
  return searchBreak(pool, separated, { slotCount, maxAds, limitMs });
}

const lengthOf = (chosen: readonly Chosen[]) => chosen.reduce((sum, { served }) => sum + served.stream.durationMs, 0);

/** The candidate beside ads that are chosen already, or the reason why it does not fit there. */
function placeBeside(screening: Screening, chosen: readonly Chosen[], candidate: Candidate): Chosen | VerdictCode {
  if (chosen.length >= screening.slotCount) return 'outranked';
  if (chosen.length >= screening.maxAds) return 'policy_ad_load';
  for (const other of chosen) {
    const separated = separationBetween(screening, candidate, other.candidate);
    if (separated) return separated;
  }
  const leftMs = screening.limitMs - lengthOf(chosen);
  const short = candidate.creatives.filter(({ stream }) => stream.durationMs <= leftMs);
  if (short.length === 0)
    return screening.limitMs < screening.adBreak.maxDurationMs ? screening.limitCode : 'duration_too_long';
  const served = short.find(({ slots }) => assignSlots([...chosen.map((one) => one.served.slots), slots]));
  return served ? { candidate, served } : 'position_taken';
}

/** Why a candidate lost: it does not fit beside the better ones, or a set without it is worth more. */
function refusalOf(screening: Screening, better: readonly Chosen[], loser: Candidate): VerdictCode {
  const beside = placeBeside(screening, better, loser);
  return typeof beside === 'string' ? beside : 'outranked';
}

function placeInSlots({ adBreak }: Screening, chosen: readonly Chosen[]): Placement[] {
  const slots = assignSlots(chosen.map((one) => one.served.slots))!;
  const placements = chosen.map((one, at) => ({ ...one, slot: slots[at]! })).sort((a, b) => a.slot - b.slot);
  // Without slot rules a slot is only a place in the order: ads follow each other without a gap.
  return adBreak.slotRules.length > 0 ? placements : placements.map((one, slot) => ({ ...one, slot }));
}

/**
 * Fills one break: the first exclusive line item that fits has it alone; else the best set of at most 24 candidates in rank order,
 * and what still fits beside it of those that come after. A line item has at most one slot of a break.
 */
export function fillBreak(screening: Screening, eligible: Eligibility): FilledBreak {
  const { slotCount, maxAds, limitMs } = screening;
  const considered = new Map<number, VerdictCode>();
  const opportunities: number[] = [];
  /** Notes a break in which the line item could have served, had its share not been used up: shares are counted of those. */
  const noteOpportunity = (ordinal: number, screened: Candidate | VerdictCode) => {
    if (typeof screened === 'string' && screened !== 'paced_out') return;
    if (screening.index.lines[ordinal]!.sharePct !== undefined) opportunities.push(ordinal);
  };
  const closed = maxAds <= 0 || limitMs <= 0;
  const byPolicy = slotCount > 0 && (maxAds <= 0 || (limitMs <= 0 && screening.limitCode === 'policy_ad_load'));
  const sets = divideCandidates(screening.index, screening.inputs, eligible);
  const seen = { considered, opportunities, sets, rest: byPolicy ? 'policy_ad_load' : 'outranked' } as const;
  if (closed || eligible.count === 0) return { placements: [], ...seen, full: closed };

  for (const ordinal of walkTier(screening, sets, tiers.exclusive)) {
    const screened = screenCandidate(screening, ordinal);
    considered.set(ordinal, typeof screened === 'string' ? screened : 'won');
    noteOpportunity(ordinal, screened);
    if (considered.size >= maxConsidered) break;
    if (typeof screened === 'string') continue;
    const alone = [{ candidate: screened, served: screened.creatives[0]! }];
    return { placements: placeInSlots(screening, alone), ...seen, full: true };
  }

  const pool: Candidate[] = [];
  const maxPool = poolMaxOf(maxAds);
  let chosen: readonly Chosen[] | undefined;
  const choose = () => {
    sortPool(screening, pool);
    return chooseFrom(screening, pool);
  };
  const isFull = () => chosen !== undefined && (chosen.length >= maxAds || lengthOf(chosen) >= limitMs);

  /** Verdict of one candidate; `won` is provisional while it only joins the pool. */
  const consider = (ordinal: number): VerdictCode => {
    const screened = screenCandidate(screening, ordinal);
    noteOpportunity(ordinal, screened);
    if (typeof screened === 'string') return screened;
    if (!chosen) {
      pool.push(screened);
      if (pool.length === maxPool) chosen = choose();
      return 'won';
    }
    const beside = placeBeside(screening, chosen, screened);
    if (typeof beside === 'string') return beside;
    chosen = [...chosen, beside];
    return 'won';
  };

  walk: for (let tier: number = tiers.sponsorship; tier <= tiers.house; tier++) {
    let misfits = 0;
    for (const ordinal of walkTier(screening, sets, tier)) {
      if (isFull() || considered.size >= maxConsidered) break walk;
      const verdict = consider(ordinal);
      considered.set(ordinal, verdict);
      if (misfitCodes.has(verdict) && ++misfits >= maxMisfitsPerTier) break;
    }
  }
  chosen ??= choose();
  const better: Chosen[] = [];
  for (const candidate of pool) {
    const won = chosen.find((one) => one.candidate === candidate);
    if (won) better.push(won);
    else considered.set(candidate.ordinal, refusalOf(screening, better, candidate));
  }
  return { placements: placeInSlots(screening, chosen), ...seen, full: isFull() };
}
