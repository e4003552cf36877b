import type { VerdictCode } from './codes.ts';
import { decisionHash } from './decision-hash.ts';
import type { AdBreak, DecisionContext, MayServe } from './decision-context.ts';
import type { Eligibility } from './eligibility.ts';
import { nearestStream, type IndexedCreative, type IndexedStream } from './index-creatives.ts';
import { tiers, type PlanIndex } from './plan-index.ts';
import { walkCandidates } from './walk-candidates.ts';

/** Candidates that may serve but do not fit: after so many of one tier the next tier has its turn. */
const misfitsPerTierMax = 24;
/** Candidates looked at for one break; bounds the worst case of a plan full of finished goals. */
const consideredMax = 4096;
/** Keeps the creative's choice independent of the line item's. */
const creativeSalt = 0x5bd1e995;

export interface Placement {
  readonly ordinal: number;
  readonly creative: IndexedCreative;
  readonly stream: IndexedStream;
}

export interface FilledBreak {
  readonly placements: readonly Placement[];
  /** Every candidate looked at, in rank order, with its verdict. */
  readonly considered: ReadonlyMap<number, VerdictCode>;
  /** True when nothing more could have been placed, whatever the plan holds. */
  readonly full: boolean;
}

type ChosenCreative = Omit<Placement, 'ordinal'>;

function chooseCreative(
  creatives: readonly IndexedCreative[],
  contentLufs: number | undefined,
  longestMs: number,
  hash: number,
): ChosenCreative | undefined {
  const fitting = creatives
    .map((creative) => ({ creative, stream: nearestStream(creative, contentLufs) }))
    .filter(({ stream }) => stream.durationMs <= longestMs);
  const total = fitting.reduce((sum, { creative }) => sum + creative.weight, 0);
  let at = (hash / 2 ** 32) * total;
  return fitting.find(({ creative }) => (at -= creative.weight) < 0) ?? fitting.at(-1);
}

/**
 * Fills one break from the best candidate down: tier, then priority, then hash. A line item, and an advertiser, has at most one
 * slot of a break; an exclusive line item that wins closes the break to all others.
 * @param taken slots per ordinal in this decision; counted on
 */
export function fillBreak(
  index: PlanIndex,
  eligible: Eligibility,
  { streamFormat, loudnessLufs }: Pick<DecisionContext, 'streamFormat' | 'loudnessLufs'>,
  adBreak: AdBreak,
  seed: number,
  taken: Map<number, number>,
  mayServe: MayServe,
): FilledBreak {
  const placements: Placement[] = [];
  const considered = new Map<number, VerdictCode>();
  const advertisers = new Set<string>();
  let leftMs = adBreak.maxDurationMs;
  let closed = adBreak.maxSlots <= 0 || leftMs <= 0;
  let misfits = 0;
  let tier = -1;

  const consider = (ordinal: number): VerdictCode => {
    const line = index.lines[ordinal]!;
    const slotsTaken = taken.get(ordinal) ?? 0;
    if (advertisers.has(line.advertiserId)) return 'separated_advertiser';
    if (!mayServe(ordinal, slotsTaken)) return 'no_lease';
    const creatives = line.creativesByFormat.get(streamFormat) ?? [];
    const chosen = chooseCreative(creatives, loudnessLufs, leftMs, decisionHash(seed ^ creativeSalt, ordinal));
    if (!chosen) return 'duration_too_long';
    placements.push({ ordinal, ...chosen });
    taken.set(ordinal, slotsTaken + 1);
    advertisers.add(line.advertiserId);
    leftMs -= chosen.stream.durationMs;
    closed = placements.length === adBreak.maxSlots || leftMs === 0 || line.tier === tiers.exclusive;
    return 'won';
  };

  walk: for (const group of eligible.count === 0 ? [] : index.groups) {
    if (group.tier !== tier) misfits = 0;
    tier = group.tier;
    if (misfits >= misfitsPerTierMax) continue;
    for (const ordinal of walkCandidates(eligible.bits, group, seed)) {
      if (closed || considered.size >= consideredMax) break walk;
      const verdict = consider(ordinal);
      considered.set(ordinal, verdict);
      if (verdict === 'separated_advertiser' || verdict === 'duration_too_long') misfits++;
      if (misfits >= misfitsPerTierMax) break;
    }
  }
  return { placements, considered, full: closed };
}
