import { createBits, removeBit, type Bits } from './bitset.ts';
import type { PlanIndex } from './plan-index.ts';

/** The parts of the plan that may not serve: applied on top of the plan, without compiling it again. All lists are ordered. */
export interface Suspensions {
  readonly halts: {
    readonly workspace: boolean;
    readonly podcast_ids: readonly string[];
    readonly surfaces: readonly string[];
    readonly line_item_ids: readonly string[];
    readonly creative_ids: readonly string[];
  };
  /** No longer in a state that serves. */
  readonly not_active: {
    readonly line_item_ids: readonly string[];
    readonly campaign_ids: readonly string[];
    readonly advertiser_ids: readonly string[];
    readonly creative_ids: readonly string[];
    /** "line item/creative". */
    readonly assignments: readonly string[];
  };
}

export const noSuspensions: Suspensions = {
  halts: { workspace: false, podcast_ids: [], surfaces: [], line_item_ids: [], creative_ids: [] },
  not_active: { line_item_ids: [], campaign_ids: [], advertiser_ids: [], creative_ids: [], assignments: [] },
};

/** Suspensions in the ordinals of one index. */
export interface SuspendedLines {
  /** Lines that are still active. */
  readonly active: Bits;
  /** Lines that have a creative that may serve. */
  readonly approved: Bits;
  /** Lines that no halt concerns; none where everything stands still. */
  readonly unhalted: (podcastId: string, surface: string) => Bits;
  /** Creatives that may not serve, of lines that have others. */
  readonly creativeIds: ReadonlyMap<number, ReadonlySet<string>>;
}

/** Suspensions in the ordinals of an index, and what of them concerns it: ids that the plan does not name are left out. */
export function suspendLines(
  index: PlanIndex,
  suspensions: Suspensions,
): { readonly lines: SuspendedLines; readonly relevant: Suspensions } {
  const { halts, not_active: notActive } = suspensions;
  const [haltedLines, haltedCreatives] = [new Set(halts.line_item_ids), new Set(halts.creative_ids)];
  const stopped = {
    line_item_ids: new Set(notActive.line_item_ids),
    campaign_ids: new Set(notActive.campaign_ids),
    advertiser_ids: new Set(notActive.advertiser_ids),
    creative_ids: new Set(notActive.creative_ids),
    assignments: new Set(notActive.assignments),
  };
  const named = new Set<string>();
  const isNamed = (set: ReadonlySet<string>, id: string) => set.has(id) && named.add(id) !== undefined;

  const bits = { active: index.all.slice(), unhalted: index.all.slice(), approved: index.all.slice() };
  const none = createBits(index.lines.length);
  const creativeIds = new Map<number, ReadonlySet<string>>();
  index.lines.forEach((line, ordinal) => {
    const [own, campaign, advertiser] = [
      isNamed(stopped.line_item_ids, line.lineItemId),
      isNamed(stopped.campaign_ids, line.campaignId),
      isNamed(stopped.advertiser_ids, line.advertiserId),
    ];
    if (own || campaign || advertiser) removeBit(bits.active, ordinal);
    if (isNamed(haltedLines, line.lineItemId)) removeBit(bits.unhalted, ordinal);
    const out = new Map<string, keyof typeof bits>();
    for (const creativeId of line.creativeIds) {
      if (isNamed(stopped.assignments, `${line.lineItemId}/${creativeId}`)) out.set(creativeId, 'active');
      if (isNamed(stopped.creative_ids, creativeId)) out.set(creativeId, 'approved');
      if (isNamed(haltedCreatives, creativeId)) out.set(creativeId, 'unhalted');
    }
    if (out.size === 0) return;
    if (out.size < line.creativeIds.size) {
      creativeIds.set(ordinal, new Set(out.keys()));
      return;
    }
    const whys = new Set(out.values());
    const why = (['approved', 'unhalted', 'active'] as const).find((one) => whys.has(one))!;
    removeBit(bits[why], ordinal);
  });

  const ofPlan = (ids: readonly string[]) => ids.filter((id) => named.has(id)).toSorted();
  const [podcastIds, surfaces] = [new Set(halts.podcast_ids), new Set(halts.surfaces)];
  return {
    lines: {
      active: bits.active,
      approved: bits.approved,
      unhalted: (podcastId, surface) =>
        halts.workspace || podcastIds.has(podcastId) || surfaces.has(surface) ? none : bits.unhalted,
      creativeIds,
    },
    relevant: {
      halts: {
        workspace: halts.workspace,
        podcast_ids: halts.podcast_ids.toSorted(),
        surfaces: halts.surfaces.toSorted(),
        line_item_ids: ofPlan(halts.line_item_ids),
        creative_ids: ofPlan(halts.creative_ids),
      },
      not_active: {
        line_item_ids: ofPlan(notActive.line_item_ids),
        campaign_ids: ofPlan(notActive.campaign_ids),
        advertiser_ids: ofPlan(notActive.advertiser_ids),
        creative_ids: ofPlan(notActive.creative_ids),
        assignments: ofPlan(notActive.assignments),
      },
    },
  };
}
