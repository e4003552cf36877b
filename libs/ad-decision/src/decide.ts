import type { NoAdReason, VerdictCode } from './codes.ts';
import type { AdBreak, DecisionContext, MayServe } from './decision-context.ts';
import { decisionHash, seedOf } from './decision-hash.ts';
import { findEligible, type Eligibility } from './eligibility.ts';
import { fillBreak, type FilledBreak } from './fill-break.ts';
import type { PlanIndex, Tier } from './plan-index.ts';

/** One slot of a break and the prepared stream that fills it. */
export interface Pick {
  readonly breakKey: string;
  /** 0-based within the break. */
  readonly slot: number;
  readonly ordinal: number;
  readonly lineItemId: string;
  readonly campaignId: string;
  readonly creativeId: string;
  /** SHA-256 (hex) of the prepared segment. */
  readonly segmentDigest: string;
  readonly sizeBytes: number;
  readonly durationMs: number;
  /** Approved address of a click. */
  readonly clickUrl: string | null;
  readonly billable: boolean;
}

/** What one stage of one break let through, and how many each code dropped. */
export interface TraceStage {
  readonly breakKey: string;
  readonly name: 'eligibility' | 'selection';
  readonly in: number;
  readonly out: number;
  readonly droppedBy: Readonly<Partial<Record<VerdictCode, number>>>;
}

export interface TraceCandidate {
  readonly breakKey: string;
  readonly lineItemId: string;
  readonly verdict: VerdictCode;
  /** Every code that speaks against the candidate (or "won"); the verdict is the first. */
  readonly codes: readonly VerdictCode[];
  readonly tier: Tier;
  /** 1-based place in the order in which candidates were looked at; undefined when it never came to that. */
  readonly rank: number | undefined;
}

export interface Decision {
  readonly picks: readonly Pick[];
  /** Undefined when no slot could have held more. */
  readonly noAdReason: NoAdReason | undefined;
  readonly stages: readonly TraceStage[];
  /** At most 50, shared evenly by the breaks, and always every winner. */
  readonly candidates: readonly TraceCandidate[];
}

const traceCandidatesMax = 50;

function counts(codes: Iterable<VerdictCode>): Partial<Record<VerdictCode, number>> {
  const result: Partial<Record<VerdictCode, number>> = {};
  for (const code of codes) result[code] = (result[code] ?? 0) + 1;
  return result;
}

function reasonOf(eligible: Eligibility, filled: FilledBreak): NoAdReason | undefined {
  if (filled.full) return undefined;
  if (eligible.count === 0) {
    const last = [...eligible.droppedBy.keys()].at(-1);
    if (last === 'no_rendition') return last;
    return last === undefined || last === 'not_active' ? 'no_active_line_item' : 'no_matching_line_item';
  }
  const verdicts = new Set(filled.considered.values());
  if (verdicts.has('duration_too_long') || verdicts.has('separated_advertiser')) return 'no_fit';
  return verdicts.has('no_lease') ? 'no_lease' : 'no_more_line_items';
}

function traceStages(index: PlanIndex, adBreak: AdBreak, eligible: Eligibility, filled: FilledBreak): TraceStage[] {
  const lost = counts([...filled.considered.values()].filter((code) => code !== 'won'));
  const outranked = eligible.count - filled.considered.size;
  if (outranked > 0) lost.outranked = outranked;
  return [
    {
      breakKey: adBreak.key,
      name: 'eligibility',
      in: index.lines.length,
      out: eligible.count,
      droppedBy: Object.fromEntries(eligible.droppedBy),
    },
    {
      breakKey: adBreak.key,
      name: 'selection',
      in: eligible.count,
      out: filled.placements.length,
      droppedBy: lost,
    },
  ];
}

function traceCandidates(
  index: PlanIndex,
  adBreak: AdBreak,
  eligible: Eligibility,
  filled: FilledBreak,
  max: number,
): TraceCandidate[] {
  const view = (ordinal: number, codes: readonly [VerdictCode, ...VerdictCode[]], rank?: number): TraceCandidate => {
    const { lineItemId, tier } = index.lines[ordinal]!;
    return { breakKey: adBreak.key, lineItemId, verdict: codes[0], codes, tier, rank };
  };
  const considered = [...filled.considered].map(([ordinal, verdict], at) => view(ordinal, [verdict], at + 1));
  const winners = considered.filter((one) => one.verdict === 'won');
  let room = Math.max(0, max - winners.length);
  const listed = considered.filter((one) => one.verdict === 'won' || room-- > 0);
  for (let ordinal = 0; ordinal < index.lines.length && listed.length < max; ordinal++) {
    if (filled.considered.has(ordinal)) continue;
    const [first = 'outranked', ...rest] = eligible.failures(ordinal);
    listed.push(view(ordinal, [first, ...rest]));
  }
  return listed;
}

/**
 * Chooses the ads of one play: the whole answer depends on the arguments alone, so a replay gives the same.
 * Breaks are filled in request order, each best tier first, then priority, then `hash(decision_id, ordinal)`, where the hash of
 * every further break of the play is another one. Creatives rotate by weight among those that have the stream format and fit, each
 * in the stream whose loudness is nearest to the content's.
 * Cost is bounded: bitset tests over the plan, then at most 4096 candidates a break.
 * @param mayServe asked before a line item takes a slot; the caller's goals, later leases and caps
 */
export function decide(index: PlanIndex, context: DecisionContext, mayServe: MayServe = () => true): Decision {
  const seed = seedOf(context.decisionId);
  const taken = new Map<number, number>();
  const picks: Pick[] = [];
  const stages: TraceStage[] = [];
  const candidates: TraceCandidate[] = [];
  let noAdReason: NoAdReason | undefined = context.breaks.length === 0 ? 'no_breaks' : undefined;
  const candidatesMax = Math.floor(traceCandidatesMax / Math.max(1, context.breaks.length));

  context.breaks.forEach((adBreak, at) => {
    const eligible = findEligible(index, context, adBreak);
    const breakSeed = at === 0 ? seed : decisionHash(seed, at);
    const filled = fillBreak(index, eligible, context, adBreak, breakSeed, taken, mayServe);
    filled.placements.forEach(({ ordinal, creative, stream }, slot) => {
      const { lineItemId, campaignId, billable } = index.lines[ordinal]!;
      const { creativeId, clickUrl } = creative;
      const { segmentDigest, sizeBytes, durationMs } = stream;
      picks.push({
        breakKey: adBreak.key,
        slot,
        ordinal,
        lineItemId,
        campaignId,
        creativeId,
        segmentDigest,
        sizeBytes,
        durationMs,
        clickUrl,
        billable,
      });
    });
    noAdReason ??= reasonOf(eligible, filled);
    stages.push(...traceStages(index, adBreak, eligible, filled));
    candidates.push(...traceCandidates(index, adBreak, eligible, filled, candidatesMax));
  });
  return { picks, noAdReason, stages, candidates };
}
