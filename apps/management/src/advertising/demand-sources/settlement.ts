import type { ResourceRow } from '@longwave/command-pipeline';

/** A step by which the assignments of a source's ads come in line with what it answered. */
export type SettlementStep =
  | { readonly kind: 'submit'; readonly creative: ResourceRow<'creatives'> }
  /** `count`: assignments that the creative has had. */
  | { readonly kind: 'assign'; readonly creative: ResourceRow<'creatives'>; readonly count: number }
  | { readonly kind: 'activate'; readonly assignment: ResourceRow<'creative_assignments'> }
  | { readonly kind: 'end'; readonly assignment: ResourceRow<'creative_assignments'> };

const isLive = ({ lifecycle_state: state }: ResourceRow<'creative_assignments'>) => state !== 'ended';

/**
 * The next step of each ad: what is prepared is submitted, what is approved is assigned, and what is no longer wanted ends. An assignment that a
 * person has paused stays paused.
 * @param wanted keys of the ads that may be assigned now
 * @param creatives of the source, in any state
 * @param assignments of its line item, in any state
 */
export function settlementOf(
  wanted: ReadonlySet<string>,
  creatives: readonly ResourceRow<'creatives'>[],
  assignments: readonly ResourceRow<'creative_assignments'>[],
): readonly SettlementStep[] {
  return creatives.flatMap((creative): SettlementStep[] => {
    const own = assignments.filter(({ attributes }) => attributes.creative_id === creative.id);
    const live = own.filter(isLive);
    if (!wanted.has(creative.attributes.demand_key!))
      return live.map((assignment) => ({ kind: 'end', assignment }) as const);
    const { lifecycle_state: state } = creative;
    if (state === 'processing' && creative.attributes.media.length > 0) return [{ kind: 'submit', creative }];
    if (state !== 'approved') return [];
    if (live.length === 0) return [{ kind: 'assign', creative, count: own.length }];
    return live
      .filter(({ lifecycle_state: of }) => of === 'draft')
      .map((assignment) => ({ kind: 'activate', assignment }) as const);
  });
}
