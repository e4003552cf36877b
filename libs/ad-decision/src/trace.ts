import { hasBit } from './bitset.ts';
import type { VerdictCode } from './codes.ts';
import type { AdBreak } from './decision-context.ts';
import type { Eligibility } from './eligibility.ts';
import type { FilledBreak } from './fill-break.ts';
import type { PlanIndex, Tier } from './plan-index.ts';

const stageNames = ['eligibility', 'goals', 'frequency', 'separation', 'pacing', 'selection'] as const;

/** The candidates that one stage of one break let through, and how many each code dropped. The next stage starts with those let through. */
export interface TraceStage {
  readonly breakKey: string;
  readonly name: (typeof stageNames)[number];
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
  /** 1-based place in the order in which candidates were considered; undefined when it was not considered. */
  readonly rank: number | undefined;
}

/** The stage of each code; all other codes belong to the selection. */
const stageOf: Readonly<Partial<Record<VerdictCode, TraceStage['name']>>> = {
  no_lease: 'goals',
  capped: 'frequency',
  policy_frequency: 'frequency',
  separated_advertiser: 'separation',
  separated_group: 'separation',
  separated_category: 'separation',
  policy_separation: 'separation',
  paced_out: 'pacing',
};

export function traceStages(
  index: PlanIndex,
  { key: breakKey }: AdBreak,
  eligible: Eligibility,
  filled: FilledBreak,
): readonly TraceStage[] {
  const drops: Record<string, Partial<Record<VerdictCode, number>>> = {
    eligibility: Object.fromEntries(eligible.droppedBy),
  };
  const drop = (code: VerdictCode, count: number) => {
    const stage = (drops[stageOf[code] ?? 'selection'] ??= {});
    stage[code] = (stage[code] ?? 0) + count;
  };
  for (const code of filled.considered.values()) if (code !== 'won') drop(code, 1);
  const withoutCredit = filled.sets.withoutCredit?.count ?? 0;
  if (withoutCredit > 0) drop('no_lease', withoutCredit);
  const unseen = eligible.count - filled.considered.size - withoutCredit;
  if (unseen > 0) drop(filled.rest, unseen);

  let left = index.lines.length;
  const stages: TraceStage[] = [];
  for (const name of stageNames) {
    const droppedBy = drops[name] ?? {};
    let out = left;
    for (const count of Object.values(droppedBy)) out -= count;
    stages.push({ breakKey, name, in: left, out, droppedBy });
    left = out;
  }
  return stages;
}

/** At most `max` candidates, always every winner; considered ones before others. */
export function traceCandidates(
  index: PlanIndex,
  { key: breakKey }: AdBreak,
  eligible: Eligibility,
  { considered, sets: { withoutCredit }, rest: outranked }: FilledBreak,
  max: number,
): readonly TraceCandidate[] {
  const view = (ordinal: number, codes: readonly [VerdictCode, ...VerdictCode[]], rank?: number): TraceCandidate => {
    const { lineItemId, tier } = index.lines[ordinal]!;
    return { breakKey, lineItemId, verdict: codes[0], codes, tier, rank };
  };
  let unreserved = max;
  for (const verdict of considered.values()) if (verdict === 'won') unreserved--;
  const listed: TraceCandidate[] = [];
  let rank = 0;
  for (const [ordinal, verdict] of considered) {
    rank++;
    if (verdict === 'won' || unreserved-- > 0) listed.push(view(ordinal, [verdict], rank));
  }
  for (let ordinal = 0; ordinal < index.lines.length && listed.length < max; ordinal++) {
    if (considered.has(ordinal)) continue;
    const unseen = withoutCredit && hasBit(withoutCredit.bits, ordinal) ? 'no_lease' : outranked;
    const [first = unseen, ...rest] = eligible.failures(ordinal);
    listed.push(view(ordinal, [first, ...rest]));
  }
  return listed;
}
