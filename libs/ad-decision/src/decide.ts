import { hlsAudioFormat, hlsPictureFormat, type AdPicture, type AdTrack } from '@longwave/events';
import type { NoAdReason, VerdictCode } from './codes.ts';
import { countBits, type Bits } from './bitset.ts';
import { lacksCredit } from './candidate-sets.ts';
import {
  freshInputs,
  type AdBreak,
  type DecisionContext,
  type DecisionInputs,
  type Share,
} from './decision-context.ts';
import { decisionHash, seedOf } from './decision-hash.ts';
import { findEligible, findEligibleInBreak, findFitting, type Eligibility } from './eligibility.ts';
import { fillBreak, type FilledBreak } from './fill-break.ts';
import { capKeysOf } from './frequency.ts';
import { renditionsKey } from './index-creatives.ts';
import type { PlanIndex } from './plan-index.ts';
import type { PlayPolicies, PolicyVersion } from './policies.ts';
import type { PlacedAd } from './separation.ts';
import { traceCandidates, traceStages, type TraceCandidate, type TraceStage } from './trace.ts';

/** One slot of a break and the prepared stream that fills it. */
interface Pick {
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
  /** The same sound for HLS, where the play asks for that format; every ad of such a play has it. */
  readonly hls?: AdTrack;
  /** Its pictures for HLS, where the play asks for them. */
  readonly pictures?: readonly AdPicture[];
  /** Approved address of a click. */
  readonly clickUrl: string | null;
  readonly billable: boolean;
  /** The keys under which the listener's record counts this serving. */
  readonly capKeys: readonly string[];
}

/** What became of the line items that could serve in one break, by ordinal. */
export interface BreakVerdicts {
  readonly breakKey: string;
  /** Every one that was looked at, in rank order. */
  readonly considered: ReadonlyMap<number, VerdictCode>;
  /** All that could serve. */
  readonly eligible: Bits;
  /** Those of them that were not looked at because they had no credit: `no_lease`. Undefined when credit was not known. */
  readonly withoutCredit: Bits | undefined;
  /** The verdict of all others. */
  readonly rest: VerdictCode;
}

export interface Decision {
  readonly picks: readonly Pick[];
  /** Undefined when no slot could have held more. */
  readonly noAdReason: NoAdReason | undefined;
  /** Line items with a share, once per break in which they could have served. */
  readonly opportunities: readonly string[];
  readonly stages: readonly TraceStage[];
  /** At most 50, shared evenly by the breaks, and always every winner. */
  readonly candidates: readonly TraceCandidate[];
  /** All verdicts of each break, in request order; those of `candidates` among them. */
  readonly verdicts: readonly BreakVerdicts[];
  /** The policies that the play was decided under. */
  readonly policies: readonly PolicyVersion[];
}

/** The tracks of HLS of an ad that the play asks for. */
function askedTracks(
  { streamFormats = [] }: DecisionContext,
  { stream, creative }: FilledBreak['placements'][number]['served'],
): { readonly hls?: AdTrack; readonly pictures?: readonly AdPicture[] } {
  return {
    ...(streamFormats.includes(hlsAudioFormat) && stream.hls && { hls: stream.hls }),
    ...(streamFormats.includes(hlsPictureFormat) && creative.pictures && { pictures: creative.pictures }),
  };
}

const maxTraceCandidates = 50;
const maxSlots = 16;

/** Why nothing more was placed, by the verdicts of the candidates; the first entry with a match is the reason. */
const reasonsByVerdict: readonly (readonly [NoAdReason, readonly VerdictCode[]])[] = [
  [
    'no_fit',
    [
      'duration_too_long',
      'separated_advertiser',
      'separated_group',
      'separated_category',
      'policy_separation',
      'ad_load',
      'policy_ad_load',
      'slot_rule',
      'position_taken',
    ],
  ],
  ['no_lease', ['no_lease']],
  ['capped', ['capped', 'policy_frequency']],
  ['paced_out', ['paced_out']],
  ['no_matching_line_item', ['policy_brand_safety']],
];

function reasonOf(eligible: Eligibility, filled: FilledBreak): NoAdReason | undefined {
  if (filled.full) return undefined;
  if (eligible.count === 0) {
    const last = [...eligible.droppedBy.keys()].at(-1);
    if (last === 'no_rendition' || last === 'halted') return last;
    return last === undefined || last === 'not_active' ? 'no_active_line_item' : 'no_matching_line_item';
  }
  const verdicts = new Set(filled.considered.values());
  if (lacksCredit(filled.sets, filled.considered)) verdicts.add('no_lease');
  const found = reasonsByVerdict.find(([, codes]) => codes.some((code) => verdicts.has(code)));
  return found?.[0] ?? 'no_more_line_items';
}

const verdictsOf = ({ key }: AdBreak, { considered, sets, rest }: FilledBreak): BreakVerdicts => ({
  ...{ breakKey: key, considered, rest },
  ...{ eligible: sets.eligible, withoutCredit: sets.withoutCredit?.bits },
});

const positionOrder = { pre: 0, mid: 1, post: 2 } as const;

/** Per break the keys of the breaks before and after it. */
function neighboursOf(breaks: readonly AdBreak[]): ReadonlyMap<string, readonly string[]> {
  if (breaks.length === 1) return new Map([[breaks[0]!.key, []]]);
  const inOrder = breaks.toSorted(
    (a, b) => positionOrder[a.position] - positionOrder[b.position] || a.positionMs - b.positionMs,
  );
  return new Map(
    inOrder.map(({ key }, at) => [key, [inOrder[at - 1], inOrder[at + 1]].flatMap((one) => (one ? [one.key] : []))]),
  );
}

/** A play whose eligible line items are found; `decidePrepared` may run on it again with other inputs. */
export interface PreparedPlay {
  readonly index: PlanIndex;
  readonly context: DecisionContext;
  readonly suspended: DecisionInputs['suspended'];
  readonly policies: PlayPolicies;
  readonly eligible: readonly Eligibility[];
}

/** The part of a decision that depends on plan, play and suspensions alone. */
export function preparePlay(
  index: PlanIndex,
  context: DecisionContext,
  suspended?: DecisionInputs['suspended'],
): PreparedPlay {
  const policies = index.policies.inPlay(context);
  const inPlay = findEligible(index, context, suspended, policies);
  const eligible = context.breaks.map((adBreak) => findEligibleInBreak(index, context, inPlay, adBreak));
  return { index, context, suspended, policies, eligible };
}

const noneDropped: Eligibility['droppedBy'] = new Map();
const noFailures = () => [];

/** `preparePlay` without suspensions, and without what speaks against line items that do not fit: for decisions without a trace. */
export function prepareUntraced(index: PlanIndex, context: DecisionContext): PreparedPlay {
  const policies = index.policies.inPlay(context);
  const eligible = findFitting(index, context, policies).map((bits): Eligibility => ({
    ...{ bits, count: countBits(bits), droppedBy: noneDropped, failures: noFailures, tests: [] },
  }));
  return { index, context, suspended: undefined, policies, eligible };
}

/**
 * Chooses the ads of one play: the whole answer depends on the arguments alone, so a replay gives the same.
 * Breaks are filled in request order, each best tier first. Within a tier exclusive and house line items go by weight, sponsorships
 * by what they lack of their share, guaranteed ones by priority and urgency, those that compete by price by price, and equals by
 * `hash(decision_id, ordinal)`, where the hash of every further break of the play is another one. Creatives rotate by weight or in
 * sequence among those that fit, each in the stream whose loudness is nearest to the content's.
 * Cost is bounded: bitset tests over the plan, then at most 4096 candidates and one search of 400 nodes a break.
 * @param options.isTraced false: without `stages` and `candidates`, which only a trace shows
 */
export function decidePrepared(
  { index, context, eligible, suspended, policies }: PreparedPlay,
  counters: Omit<DecisionInputs, 'suspended'>,
  { isTraced = true }: { readonly isTraced?: boolean } = {},
): Decision {
  const inputs = { ...counters, suspended };
  const seed = seedOf(context.decisionId);
  const taken = new Map<number, number>();
  const shares = new Map<number, Share>();
  const shareOf = (ordinal: number) => shares.get(ordinal) ?? inputs.share(ordinal);
  const picks: Pick[] = [];
  const placed: PlacedAd[] = [];
  const opportunities: string[] = [];
  const stages: TraceStage[] = [];
  const candidates: TraceCandidate[] = [];
  const verdicts: BreakVerdicts[] = [];
  const neighbours = neighboursOf(context.breaks);
  const renditions = renditionsKey(context.streamFormat, context.streamFormats);
  let noAdReason: NoAdReason | undefined = context.breaks.length === 0 ? 'no_breaks' : undefined;
  let adLoadLeftMs = context.adLoadLimitMs ?? Infinity;
  let policyLeftMs = policies.maxMs;
  const maxListed = Math.floor(maxTraceCandidates / Math.max(1, context.breaks.length));

  const trace = (adBreak: AdBreak, inBreak: Eligibility, filled: FilledBreak) => {
    stages.push(...traceStages(index, adBreak, inBreak, filled));
    candidates.push(...traceCandidates(index, adBreak, inBreak, filled, maxListed));
  };
  context.breaks.forEach((adBreak, at) => {
    const adjacentKeys = neighbours.get(adBreak.key)!;
    const slotCount = Math.min(adBreak.maxSlots, maxSlots);
    const filled = fillBreak(
      {
        index,
        context,
        inputs,
        policies,
        adBreak,
        renditions,
        seed: at === 0 ? seed : decisionHash(seed, at),
        taken,
        shareOf,
        placed,
        neighbours: new Set(
          picks.filter((pick) => adjacentKeys.includes(pick.breakKey)).map((pick) => pick.creativeId),
        ),
        slotCount,
        maxAds: Math.min(slotCount, policies.maxAdsPerBreak, policies.maxAds - picks.length),
        limitMs: Math.min(adBreak.maxDurationMs, adLoadLeftMs, policyLeftMs),
        limitCode: policyLeftMs < adLoadLeftMs ? 'policy_ad_load' : 'ad_load',
      },
      eligible[at]!,
    );
    const episodeBreak = { episodeId: context.episodeId, breakKey: adBreak.key };
    for (const { candidate, served, slot } of filled.placements) {
      const { ordinal, line } = candidate;
      const { segmentDigest, sizeBytes, durationMs } = served.stream;
      picks.push({
        breakKey: adBreak.key,
        slot,
        ordinal,
        lineItemId: line.lineItemId,
        campaignId: line.campaignId,
        creativeId: served.creative.creativeId,
        segmentDigest,
        sizeBytes,
        durationMs,
        ...askedTracks(context, served),
        clickUrl: served.creative.clickUrl,
        billable: line.billable,
        capKeys: capKeysOf(line, episodeBreak, index.policies.capPers),
      });
      placed.push({ line, adBreak });
      taken.set(ordinal, (taken.get(ordinal) ?? 0) + 1);
      adLoadLeftMs -= durationMs;
      policyLeftMs -= durationMs;
    }
    for (const ordinal of filled.opportunities) {
      const before = shareOf(ordinal);
      const servings = filled.placements.some((one) => one.candidate.ordinal === ordinal) ? 1 : 0;
      shares.set(ordinal, { served: before.served + servings, opportunities: before.opportunities + 1 });
      opportunities.push(index.lines[ordinal]!.lineItemId);
    }
    verdicts.push(verdictsOf(adBreak, filled));
    noAdReason ??= reasonOf(eligible[at]!, filled);
    if (isTraced) trace(adBreak, eligible[at]!, filled);
  });
  return { picks, noAdReason, opportunities, stages, candidates, verdicts, policies: policies.versions };
}

/** `preparePlay` and `decidePrepared` in one. */
export function decide(index: PlanIndex, context: DecisionContext, inputs: DecisionInputs = freshInputs): Decision {
  return decidePrepared(preparePlay(index, context, inputs.suspended), inputs);
}
