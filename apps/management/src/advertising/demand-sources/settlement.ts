import type { SourceAssignment, SourceCreative } from './source-creative-table.ts';

/** A step by which the assignments of a source's ads come in line with what it answered. */
export type SettlementStep =
  | { readonly kind: 'submit'; readonly creative: SourceCreative }
  /** `count`: assignments that the creative has had. */
  | { readonly kind: 'assign'; readonly creative: SourceCreative; readonly count: number }
  | { readonly kind: 'activate'; readonly assignment: SourceAssignment }
  | { readonly kind: 'end'; readonly assignment: SourceAssignment };

const isLive = ({ state }: SourceAssignment) => state !== 'ended';

/** Ads of which a person has rejected or suspended a version: whether another version may play is a person's to say. */
const keptOut = (creatives: readonly SourceCreative[]) =>
  new Set(creatives.filter(({ state }) => state === 'rejected' || state === 'suspended').map(({ adKey }) => adKey));

/**
 * The next step of each ad: what is prepared is submitted, unless a person has rejected or suspended another version of it; what is approved is
 * assigned, and what is no longer wanted ends. An assignment that a person has paused stays paused.
 * @param wanted keys of the ads that may be assigned now
 * @param creatives of the source that are not archived
 * @param assignments of its line item, in any state
 */
export function settlementOf(
  wanted: ReadonlySet<string>,
  creatives: readonly SourceCreative[],
  assignments: readonly SourceAssignment[],
): readonly SettlementStep[] {
  const reviewed = keptOut(creatives);
  const byCreative = Map.groupBy(assignments, ({ creativeId }) => creativeId);
  return creatives.flatMap((creative): SettlementStep[] => {
    const own = byCreative.get(creative.id) ?? [];
    const live = own.filter(isLive);
    if (!wanted.has(creative.demandKey)) return live.map((assignment) => ({ kind: 'end', assignment }) as const);
    const { state } = creative;
    if (state === 'processing' && creative.isPrepared)
      return reviewed.has(creative.adKey) ? [] : [{ kind: 'submit', creative }];
    if (state !== 'approved') return [];
    if (live.length === 0) return [{ kind: 'assign', creative, count: own.length }];
    return live
      .filter((assignment) => assignment.state === 'draft')
      .map((assignment) => ({ kind: 'activate', assignment }) as const);
  });
}
