import type { Separation } from '@longwave/events';
import type { VerdictCode } from './codes.ts';
import type { AdBreak } from './decision-context.ts';
import { shareAny } from './labels.ts';
import type { IndexedLine, PlanIndex } from './plan-index.ts';
import type { PlayPolicies } from './policies.ts';

/** An ad and its break. */
export interface PlacedAd {
  readonly line: IndexedLine;
  readonly adBreak: AdBreak;
}

type SeparationCode = Extract<VerdictCode, `separated_${string}`>;

const noDistance: Separation = { scope: 'none' };

function isTooNear({ scope, minutes = 0 }: Separation, a: AdBreak, b: AdBreak): boolean {
  if (scope === 'none') return false;
  if (scope === 'episode' || a.key === b.key) return true;
  return scope === 'minutes' && Math.abs(a.positionMs - b.positionMs) < minutes * 60_000;
}

/**
 * The rule that keeps two ads apart in these breaks: of the same advertiser, or of two that share a group of competitors or a category.
 * `minutes` count content between the two breaks; an advertiser does not compete with itself.
 */
function separationBy(
  separation: Partial<PlanIndex['separation']>,
  a: IndexedLine,
  aBreak: AdBreak,
  b: IndexedLine,
  bBreak: AdBreak,
): SeparationCode | undefined {
  if (a.advertiserId === b.advertiserId)
    return isTooNear(separation.advertiser ?? noDistance, aBreak, bBreak) ? 'separated_advertiser' : undefined;
  if (shareAny(a.separationGroups, b.separationGroups) && isTooNear(separation.group ?? noDistance, aBreak, bBreak))
    return 'separated_group';
  if (shareAny(a.categories, b.categories) && isTooNear(separation.category ?? noDistance, aBreak, bBreak))
    return 'separated_category';
  return undefined;
}

/** The rule by which the plan, or else a policy of the play, keeps two ads apart in these breaks. */
export function separationOf(
  {
    index,
    policies,
  }: { readonly index: Pick<PlanIndex, 'separation'>; readonly policies: Pick<PlayPolicies, 'separations'> },
  a: PlacedAd,
  b: PlacedAd,
): SeparationCode | 'policy_separation' | undefined {
  const pair = [a.line, a.adBreak, b.line, b.adBreak] as const;
  const separated = separationBy(index.separation, ...pair);
  if (separated) return separated;
  return policies.separations.some((one) => separationBy(one, ...pair)) ? 'policy_separation' : undefined;
}
