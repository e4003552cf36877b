import { readdirSync, readFileSync } from 'node:fs';
import type { PlanLineItem, PlanPolicy, ServingPlanDocument } from '@longwave/events';
import { describe, expect, test } from '@jest/globals';
import {
  addBit,
  buildIndex,
  createBits,
  createUrgency,
  decide,
  noAdReasons,
  noSuspensions,
  setUrgency,
  suspendLines,
  verdictCodes,
  type BreakPosition,
  type DecisionInputs,
  type Suspensions,
  type UrgencyLevel,
} from '../src/index.ts';
import { contextOf, planOf, type CaseLine } from './_support.ts';

interface CaseBreak {
  readonly key: string;
  readonly position: BreakPosition;
  readonly max_slots: number;
  readonly max_duration_ms: number;
  /** Its position in the content; absent: the beginning. */
  readonly position_ms?: number;
  readonly slot_rules?: readonly {
    readonly slot: number;
    readonly max_duration_ms?: number;
    readonly line_item_types?: readonly PlanLineItem['type'][];
    readonly productions?: readonly PlanLineItem['creatives'][number]['production'][];
  }[];
}

/** Everything optional is as in `contextOf` and `lineItem`: an English episode of May 2026, played in Germany on Monday noon UTC. */
interface GoldenCase {
  readonly guarantee: string;
  readonly line_items: readonly CaseLine[];
  readonly separation?: Partial<ServingPlanDocument['separation']>;
  readonly floors?: ServingPlanDocument['floors'];
  /** Policies of version 1 for the whole workspace, where no place is named. */
  readonly policies?: readonly (Pick<PlanPolicy, 'kind' | 'rules'> & {
    readonly id: string;
    readonly place?: PlanPolicy['place'];
  })[];
  readonly play?: {
    readonly at?: string;
    readonly published_at?: string;
    readonly podcast?: string;
    readonly country?: string;
    readonly region?: string;
    readonly language?: string;
    readonly device?: string;
    readonly operating_system?: string;
    readonly app?: string;
    readonly surface?: string;
    readonly explicit?: boolean;
    readonly content_categories?: readonly string[];
    /** Loudness of the content; null for unknown. Otherwise -16. */
    readonly content_lufs?: number | null;
    readonly ad_load_limit_ms?: number;
    readonly stream_formats?: readonly string[];
  };
  readonly breaks: readonly CaseBreak[];
  /** Slots that goals leave; line items that are not named have no limit. */
  readonly room?: Readonly<Record<string, number>>;
  /** Line items whose goals have credit; absent: `room` alone says it. */
  readonly credit?: readonly string[];
  /** Levels of urgency; 0 for line items that are not named. */
  readonly urgency?: Readonly<Record<string, UrgencyLevel>>;
  /** Times of servings that a cap counts (line item, line item/episode, line item/episode/break); null: no record. */
  readonly heard?: Readonly<Record<string, readonly string[]>> | null;
  /** In how many breaks of the last window the line item served, and in how many it could have. */
  readonly shares?: Readonly<Record<string, readonly [served: number, opportunities: number]>>;
  readonly halts?: Partial<Suspensions['halts']>;
  readonly not_active?: Partial<Suspensions['not_active']>;
  readonly picks: readonly string[];
  /** Loudness of the stream of each pick. */
  readonly picked_lufs?: readonly (number | null)[];
  readonly no_ad_reason: string | null;
  /** The policies under which it was decided. */
  readonly obeyed?: readonly string[];
  readonly verdicts: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const breakOf = ({ slot_rules = [], ...given }: CaseBreak) => ({
  key: given.key,
  position: given.position,
  maxSlots: given.max_slots,
  maxDurationMs: given.max_duration_ms,
  positionMs: given.position_ms ?? 0,
  slotRules: slot_rules.map((rule) => ({
    slot: rule.slot,
    maxDurationMs: rule.max_duration_ms ?? 0,
    lineItemTypes: rule.line_item_types ?? [],
    productions: rule.productions ?? [],
  })),
});

function playOf({ breaks, play = {} }: GoldenCase) {
  const usual = contextOf();
  return contextOf({
    breaks: breaks.map(breakOf),
    atMs: play.at ? Date.parse(play.at) : usual.atMs,
    publishedAtMs: play.published_at ? Date.parse(play.published_at) : usual.publishedAtMs,
    podcastId: play.podcast ?? usual.podcastId,
    country: play.country ?? usual.country,
    region: play.region ?? usual.region,
    language: play.language ?? usual.language,
    device: play.device ?? usual.device,
    operatingSystem: play.operating_system ?? usual.operatingSystem,
    app: play.app ?? usual.app,
    surface: play.surface ?? usual.surface,
    explicit: play.explicit ?? usual.explicit,
    contentCategories: play.content_categories ?? usual.contentCategories,
    loudnessLufs: play.content_lufs === undefined ? usual.loudnessLufs : (play.content_lufs ?? undefined),
    adLoadLimitMs: play.ad_load_limit_ms,
    streamFormats: play.stream_formats,
  });
}

const folder = new URL('../cases/', import.meta.url);

describe.each(readdirSync(folder))('%s', (file) => {
  const cases = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as readonly GoldenCase[];

  test.each(cases.map((one) => [one.guarantee, one] as const))('%s', (_, golden) => {
    const { room = {}, heard = {}, shares = {}, floors = [] } = golden;
    const separation = { ...planOf([]).separation, ...golden.separation };
    const policies = (golden.policies ?? []).map((one) => ({ version: 1, place: null, ...one }) as PlanPolicy);
    const index = buildIndex(planOf(golden.line_items, { separation, floors }), policies);
    const idOf = (ordinal: number) => index.lines[ordinal]!.lineItemId;
    const { lines: suspended } = suspendLines(index, {
      halts: { ...noSuspensions.halts, ...golden.halts },
      not_active: { ...noSuspensions.not_active, ...golden.not_active },
    });
    const credit = createBits(index.lines.length);
    const urgency = createUrgency(index.lines.length);
    index.lines.forEach(({ lineItemId }, ordinal) => {
      if (golden.credit?.includes(lineItemId)) addBit(credit, ordinal);
      setUrgency(urgency, ordinal, golden.urgency?.[lineItemId] ?? 0);
    });
    const inputs: DecisionInputs = {
      ...(golden.credit && { credit }),
      ...(golden.urgency && { urgency }),
      remaining: (ordinal) => room[idOf(ordinal)] ?? Infinity,
      share: (ordinal) => {
        const [served, opportunities] = shares[idOf(ordinal)] ?? [0, 0];
        return { served, opportunities };
      },
      frequencyRecord:
        heard === null
          ? undefined
          : (key, sinceMs) => (heard[key] ?? []).filter((at) => Date.parse(at) > sinceMs).length,
      suspended,
    };
    const decision = decide(index, playOf(golden), inputs);

    expect(decision.picks.map((pick) => `${pick.breakKey}/${pick.slot} ${pick.lineItemId} ${pick.creativeId}`)).toEqual(
      golden.picks,
    );
    if (golden.picked_lufs)
      expect(decision.picks.map((pick) => pick.segmentDigest)).toEqual(golden.picked_lufs.map(String));
    expect(decision.noAdReason ?? null).toBe(golden.no_ad_reason);
    if (golden.no_ad_reason !== null) expect(noAdReasons).toContain(golden.no_ad_reason);
    for (const [breakKey, verdicts] of Object.entries(golden.verdicts)) {
      const found = decision.candidates.filter((candidate) => candidate.breakKey === breakKey);
      expect(Object.fromEntries(found.map((one) => [one.lineItemId, one.verdict]))).toMatchObject(verdicts);
    }
    if (golden.obeyed) expect(decision.policies.map(({ id }) => id)).toEqual(golden.obeyed);
    for (const candidate of decision.candidates) expect(verdictCodes).toContain(candidate.verdict);
  });
});
