import type { VerdictCode } from './codes.ts';
import type { AdBreak, DecisionContext, DecisionInputs, Share } from './decision-context.ts';
import { decisionHash, weighByHash } from './decision-hash.ts';
import { capKey, isCapped } from './frequency.ts';
import { nearestStream, type IndexedCreative, type IndexedStream } from './index-creatives.ts';
import { tiers, type IndexedLine, type PlanIndex } from './plan-index.ts';
import type { PlayPolicies } from './policies.ts';
import { separationOf, type PlacedAd } from './separation.ts';
import { urgencyOf, type UrgencyLevel } from './urgency.ts';

/** A creative that may fill a slot of the break, in the stream that suits the content. */
export interface CandidateCreative {
  readonly creative: IndexedCreative;
  readonly stream: IndexedStream;
  /** Bit n: it may fill slot n. */
  readonly slots: number;
}

/** A line item that may serve in the break, unless other ads of the break exclude it. */
export interface Candidate {
  readonly ordinal: number;
  readonly line: IndexedLine;
  /** At least one, in the order of the line item's rotation. */
  readonly creatives: readonly CandidateCreative[];
  /** Its first creative plays in a neighbouring break. */
  readonly repeats: boolean;
  /** 0 where urgency orders nothing. */
  readonly urgency: UrgencyLevel;
}

/** All that the screening of candidates of one break reads. */
export interface Screening {
  readonly index: PlanIndex;
  readonly context: DecisionContext;
  readonly inputs: DecisionInputs;
  readonly policies: PlayPolicies;
  readonly adBreak: AdBreak;
  readonly seed: number;
  /** `renditionsKey` of the play. */
  readonly renditions: string;
  /** Slots per ordinal so far in this decision. */
  readonly taken: ReadonlyMap<number, number>;
  /** Shares so far, this decision's earlier breaks included. */
  readonly shareOf: (ordinal: number) => Share;
  /** Ads of earlier breaks of the play. */
  readonly placed: readonly PlacedAd[];
  /** Creatives in the breaks before and after this one. */
  readonly neighbours: ReadonlySet<string>;
  /** Slots of the break, at most 16. */
  readonly slotCount: number;
  /** Ads that policies allow in the break; at most `slotCount`. */
  readonly maxAds: number;
  /** Seconds that the break and the play's ad load leave. */
  readonly limitMs: number;
  /** Whose limit that is, where it is smaller than the break. */
  readonly limitCode: 'ad_load' | 'policy_ad_load';
}

/** Keeps the creative's choice independent of the line item's. */
const creativeSalt = 0x5bd1e995;

/** Share that the line item lacks of its goal, this break counted as not served; positive when it is its turn. */
export function shareDeficit({ sharePct = 100 }: IndexedLine, { served, opportunities }: Share): number {
  return sharePct / 100 - served / (opportunities + 1);
}

function slotsOf({ adBreak, slotCount }: Screening, line: IndexedLine, creative: IndexedCreative, durationMs: number) {
  const places = { any: (1 << slotCount) - 1, first: 1, last: 1 << (slotCount - 1) };
  let slots = places[creative.place];
  for (const { slot, maxDurationMs, lineItemTypes, productions } of adBreak.slotRules) {
    const takes =
      (maxDurationMs === 0 || durationMs <= maxDurationMs) &&
      (lineItemTypes.length === 0 || lineItemTypes.includes(line.type)) &&
      (productions.length === 0 || productions.includes(creative.production));
    if (!takes) slots &= ~(1 << slot);
  }
  return slots;
}

/** By weight: a permutation that the hash draws. By sequence: from the place after the last one that the listener heard. */
function rotate(
  screening: Screening,
  ordinal: number,
  creatives: readonly IndexedCreative[],
): readonly IndexedCreative[] {
  if (creatives.length === 1) return creatives;
  const line = screening.index.lines[ordinal]!;
  if (line.rotation === 'sequential') {
    const { frequencyRecord } = screening.inputs;
    const key = capKey(line.lineItemId, 'listener_bucket', { episodeId: '', breakKey: '' });
    const before = (frequencyRecord?.(key, 0) ?? 0) + (screening.taken.get(ordinal) ?? 0);
    const sorted = creatives.toSorted((a, b) => a.sequenceNo - b.sequenceNo);
    const next = before % sorted.length;
    return [...sorted.slice(next), ...sorted.slice(0, next)];
  }
  const seed = decisionHash(screening.seed ^ creativeSalt, ordinal);
  const keys = creatives.map((creative, at) => weighByHash(decisionHash(seed, at), creative.weight));
  const order = keys.map((_, at) => at).sort((a, b) => keys[a]! - keys[b]! || a - b);
  return order.map((at) => creatives[at]!);
}

/** Creatives of the line that may fill a slot of the break, those of neighbouring breaks last; or the verdict that excludes them all. */
function findCreatives(screening: Screening, ordinal: number): readonly CandidateCreative[] | VerdictCode {
  const { context, policies, adBreak, limitMs, neighbours } = screening;
  const line = screening.index.lines[ordinal]!;
  const out = screening.inputs.suspended?.creativeIds.get(ordinal);
  let creatives = line.creativesByRenditions.get(screening.renditions) ?? [];
  if (out) creatives = creatives.filter(({ creativeId }) => !out.has(creativeId));
  if (creatives.length === 0) return 'creative_unapproved';
  for (const blocked of policies.blockedCreatives) {
    const ids = blocked.get(ordinal);
    if (ids) creatives = creatives.filter(({ creativeId }) => !ids.has(creativeId));
  }
  if (creatives.length === 0) return 'policy_brand_safety';
  if (creatives.some((one) => one.window))
    creatives = creatives.filter(
      ({ window }) => !window || (window.startMs <= context.atMs && context.atMs < window.endMs),
    );
  if (creatives.length === 0) return 'creative_out_of_window';

  const found: CandidateCreative[] = [];
  let [tooLong, tooMuch] = [true, true];
  for (const creative of rotate(screening, ordinal, creatives)) {
    const stream = nearestStream(creative, context.loudnessLufs);
    if (stream.durationMs > adBreak.maxDurationMs) continue;
    tooLong = false;
    if (stream.durationMs > limitMs) continue;
    tooMuch = false;
    const slots = slotsOf(screening, line, creative, stream.durationMs);
    if (slots !== 0) found.push({ creative, stream, slots });
  }
  if (found.length === 0) return tooLong ? 'duration_too_long' : tooMuch ? screening.limitCode : 'slot_rule';
  if (found.length === 1 || neighbours.size === 0) return found;
  const repeatsNeighbour = ({ creative }: CandidateCreative) => Number(neighbours.has(creative.creativeId));
  return found.sort((a, b) => repeatsNeighbour(a) - repeatsNeighbour(b));
}

/** Goals, caps, policies of frequency, competitors of earlier breaks, creatives and shares, in this order: a candidate, or the verdict of the first check that fails. */
export function screenCandidate(screening: Screening, ordinal: number): Candidate | VerdictCode {
  const { index, context, inputs, policies, adBreak, taken, placed, neighbours } = screening;
  const line = index.lines[ordinal]!;
  const slotsTaken = taken.get(ordinal) ?? 0;
  if (line.goalQuantity !== undefined && slotsTaken >= (inputs.remaining?.(ordinal) ?? 0)) return 'no_lease';
  if (isCapped(line, line.caps, context, adBreak, inputs.frequencyRecord, slotsTaken)) return 'capped';
  if (isCapped(line, policies.caps, context, adBreak, inputs.frequencyRecord, slotsTaken)) return 'policy_frequency';
  for (const other of placed) {
    const separated = separationOf(screening, { line, adBreak }, other);
    if (separated) return separated;
  }
  const creatives = findCreatives(screening, ordinal);
  if (typeof creatives === 'string') return creatives;
  if (line.sharePct !== undefined && shareDeficit(line, screening.shareOf(ordinal)) <= 0) return 'paced_out';
  const repeats = neighbours.size > 0 && neighbours.has(creatives[0]!.creative.creativeId);
  const isPaced = line.tier === tiers.guaranteed && line.goalQuantity !== undefined;
  return { ordinal, line, creatives, repeats, urgency: isPaced ? urgencyOf(inputs.urgency, ordinal) : 0 };
}
