import type { PlanLineItem, PlanPolicy, PlanTargeting, ServingPlanDocument } from '@longwave/events';
import { addBit, createBits, type Bits } from './bitset.ts';
import { indexDimension, type Dimension } from './dimension.ts';
import { indexCreatives, parseWindow, type IndexedCreative } from './index-creatives.ts';
import { indexFloors, type IndexedFloors } from './index-floors.ts';
import { indexLabels, type Labels } from './labels.ts';
import { indexPolicies, type FrequencyCap, type IndexedPolicies } from './policies.ts';
import { indexAges, indexDayparts, indexWindows } from './index-times.ts';

/** Strictly ordered: everything of a lower tier number goes before everything of a higher one (docs/services/internal-serving.md#how-a-break-is-filled). */
export const tiers = { exclusive: 0, sponsorship: 1, guaranteed: 2, non_guaranteed: 3, house: 4 } as const;

export type Tier = (typeof tiers)[PlanLineItem['type']];

/** A line item under its ordinal. */
export interface IndexedLine {
  readonly lineItemId: string;
  readonly campaignId: string;
  readonly advertiserId: string;
  readonly type: PlanLineItem['type'];
  readonly tier: Tier;
  readonly priority: number;
  readonly weight: number;
  /** What a thousand decided slots bring, in millionths of the workspace's currency; 0 when it is not sold by impressions. */
  readonly cpmMicros: number;
  /** Half-open [startMs, endMs). */
  readonly startMs: number;
  readonly endMs: number;
  /** Slots it may have in all; undefined when it has no such goal. */
  readonly goalQuantity: number | undefined;
  /** Per cent of the breaks that it may serve in; undefined when it has no such goal. */
  readonly sharePct: number | undefined;
  readonly billable: boolean;
  readonly caps: readonly FrequencyCap[];
  readonly separationGroups: Labels;
  readonly categories: Labels;
  readonly rotation: PlanLineItem['creative_rotation'];
  readonly creativeIds: ReadonlySet<string>;
  /** By `renditionsKey`. */
  readonly creativesByRenditions: ReadonlyMap<string, readonly IndexedCreative[]>;
}

/** A compiled serving plan. Ordinals follow the rank, so a line item of a smaller one is never outranked by a greater one. */
export interface PlanIndex extends IndexedFloors {
  readonly lines: readonly IndexedLine[];
  /** Every ordinal. */
  readonly all: Bits;
  /** Lines with a goal of slots. */
  readonly goals: Bits;
  /** Per ordinal the end of its rank group: line items of one tier that are equals before hash, weight and share. */
  readonly groupEnds: Uint32Array;
  /** Per tier the end of its ordinals. */
  readonly tierEnds: readonly number[];
  readonly separation: ServingPlanDocument['separation'];
  readonly policies: IndexedPolicies;
  readonly dimensions: Readonly<Record<DimensionName, Dimension>>;
  readonly positions: Dimension;
  readonly renditions: Dimension;
  /** Lines that may serve in explicit and in other episodes. */
  readonly explicit: { readonly yes: Bits; readonly no: Bits };
  /** Lines whose window is open. */
  readonly activeAt: (atMs: number) => Bits;
  readonly daypartsAt: ((atMs: number) => Bits) | undefined;
  readonly agesAt: ((ageMs: number) => Bits) | undefined;
  /** Whether any line needs the listener's frequency record. */
  readonly asksListener: boolean;
  /** Ordinals of the lines with a share of breaks. */
  readonly sharedOrdinals: readonly number[];
}

export type DimensionName = Exclude<keyof PlanTargeting, 'explicit' | 'episode_age_hours' | 'dayparts'>;

/** The sort key of a candidate holds a 32-bit hash and the ordinal in one double. */
const maxLineItems = 2 ** 20;

/** Dimensions of which plays come with few values; the others have a value per podcast, episode, region or app. */
const fewValues: Readonly<Record<DimensionName, 'few' | 'many'>> = {
  podcasts: 'many',
  episodes: 'many',
  countries: 'few',
  regions: 'many',
  languages: 'few',
  devices: 'few',
  operating_systems: 'few',
  apps: 'many',
  surfaces: 'few',
  content_categories: 'few',
};

/** Price of a thousand decided slots: where only completed ads count, a part of the price of a thousand. */
function effectiveCpm({
  cpm_micros: cpm,
  completion_factor: factor = 1,
  goal,
  pacing,
}: Pick<PlanLineItem, 'cpm_micros' | 'completion_factor' | 'goal' | 'pacing'>): number {
  const countsCompletes = goal.unit === 'completes' || pacing?.counting_basis === 'client_event';
  return countsCompletes ? Math.round((cpm ?? 0) * factor) : (cpm ?? 0);
}

function indexLine(line: PlanLineItem): IndexedLine {
  const { unit, quantity } = line.goal;
  if (unit !== 'unlimited' && quantity === undefined)
    throw new RangeError(`${line.line_item_id} has a goal of ${unit} and no quantity`);
  return {
    lineItemId: line.line_item_id,
    campaignId: line.campaign_id,
    advertiserId: line.advertiser_id,
    type: line.type,
    tier: tiers[line.type],
    priority: line.priority,
    weight: line.weight,
    cpmMicros: effectiveCpm(line),
    ...parseWindow(line.window, line.line_item_id),
    goalQuantity: unit === 'impressions' || unit === 'completes' ? quantity : undefined,
    sharePct: unit === 'share_pct' ? quantity : undefined,
    billable: line.billable,
    caps: line.frequency_caps.map(({ max, per, window_seconds }) => ({ max, per, windowMs: window_seconds * 1000 })),
    separationGroups: indexLabels(line.separation_groups),
    categories: indexLabels(line.ad_product_categories),
    rotation: line.creative_rotation,
    creativeIds: new Set(line.creatives.map((creative) => creative.creative_id)),
    creativesByRenditions: indexCreatives(line),
  };
}

/** The rank of line items in one tier, before hash, weight and share: priority if guaranteed, price if it competes by price. */
function rankOf(line: PlanLineItem): number {
  if (line.type === 'guaranteed') return line.priority;
  return line.type === 'non_guaranteed' ? -effectiveCpm(line) : 0;
}

const compareIds = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function rankGroups(sorted: readonly PlanLineItem[]): Uint32Array {
  const ends = new Uint32Array(sorted.length);
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    const first = sorted[from]!;
    while (sorted[to]?.type === first.type && rankOf(sorted[to]!) === rankOf(first)) to++;
    ends.fill(to, from, to);
  }
  return ends;
}

/**
 * Compiles a serving plan for `decide`. Empty inclusions of targeting mean any; a line serves only at the break positions that it
 * lists. Priority 1 goes before priority 10.
 * @param policies those under which the plan decides; each only narrows it
 * Throws `RangeError` for an invalid plan: a line item twice, a window or time zone that cannot be read, a goal without quantity, more
 * than 2^20 line items.
 */
export function buildIndex(plan: ServingPlanDocument, policies: readonly PlanPolicy[] = []): PlanIndex {
  if (plan.line_items.length > maxLineItems) throw new RangeError(`A plan holds at most ${maxLineItems} line items`);
  const sorted = plan.line_items.toSorted(
    (a, b) => tiers[a.type] - tiers[b.type] || rankOf(a) - rankOf(b) || compareIds(a.line_item_id, b.line_item_id),
  );
  const lines = sorted.map(indexLine);
  const ids = new Set<string>();
  for (const { lineItemId } of lines) {
    if (ids.has(lineItemId)) throw new RangeError(`The plan names ${lineItemId} twice`);
    ids.add(lineItemId);
  }
  const indexedPolicies = indexPolicies(policies, sorted);
  const tierEnds = Object.values(tiers).map((tier) => lines.findLastIndex((line) => line.tier <= tier) + 1);
  const bitsWhere = (holds: (line: PlanLineItem, ordinal: number) => boolean) => {
    const bits = createBits(sorted.length);
    sorted.forEach((line, ordinal) => {
      if (holds(line, ordinal)) addBit(bits, ordinal);
    });
    return bits;
  };
  const dimensionOf = (name: DimensionName) =>
    indexDimension(
      sorted.map((line) => line.targeting[name] ?? { include: [], exclude: [] }),
      fewValues[name],
    );
  const listed = (lists: readonly Iterable<string>[]) =>
    indexDimension(
      lists.map((include) => ({ include, exclude: [] })),
      'few',
      'nowhere',
    );
  return {
    lines,
    all: bitsWhere(() => true),
    goals: bitsWhere((_, ordinal) => lines[ordinal]!.goalQuantity !== undefined),
    groupEnds: rankGroups(sorted),
    tierEnds,
    separation: plan.separation,
    policies: indexedPolicies,
    dimensions: {
      podcasts: dimensionOf('podcasts'),
      episodes: dimensionOf('episodes'),
      countries: dimensionOf('countries'),
      regions: dimensionOf('regions'),
      languages: dimensionOf('languages'),
      devices: dimensionOf('devices'),
      operating_systems: dimensionOf('operating_systems'),
      apps: dimensionOf('apps'),
      surfaces: dimensionOf('surfaces'),
      content_categories: dimensionOf('content_categories'),
    },
    positions: listed(sorted.map((line) => line.break_positions)),
    renditions: listed(lines.map((line) => line.creativesByRenditions.keys())),
    explicit: {
      yes: bitsWhere((line) => line.targeting.explicit !== 'none'),
      no: bitsWhere((line) => line.targeting.explicit !== 'only'),
    },
    activeAt: indexWindows(lines),
    daypartsAt: indexDayparts(sorted.map((line) => line.targeting.dayparts)),
    agesAt: indexAges(sorted.map((line) => line.targeting.episode_age_hours)),
    ...indexFloors(plan.floors, lines, { from: tierEnds[tiers.guaranteed]!, to: tierEnds[tiers.non_guaranteed]! }),
    asksListener:
      indexedPolicies.capPers.length > 0 ||
      lines.some((line) => line.caps.length > 0 || line.rotation === 'sequential'),
    sharedOrdinals: lines.flatMap((line, ordinal) => (line.sharePct === undefined ? [] : [ordinal])),
  };
}
