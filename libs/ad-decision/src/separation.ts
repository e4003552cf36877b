import type { Separation } from '@longwave/events';
import type { VerdictCode } from './codes.ts';
import type { AdBreak } from './decision-context.ts';
import { shareAny } from './labels.ts';
import type { IndexedLine, PlanIndex } from './plan-index.ts';

/** An ad and its break. */
export interface PlacedAd {
  readonly line: IndexedLine;
  readonly adBreak: AdBreak;
}

export type SeparationCode = Extract<VerdictCode, `separated_${string}`>;

function isTooNear({ scope, minutes = 0 }: Separation, a: AdBreak, b: AdBreak): boolean {
  if (scope === 'none') return false;
  if (scope === 'episode' || a.key === b.key) return true;
  return scope === 'minutes' && Math.abs(a.positionMs - b.positionMs) < minutes * 60_000;
}

/**
 * The rule that keeps two ads apart in these breaks: of the same advertiser, or of two that share a group of competitors or a category.
 * `minutes` count content between the two breaks; an advertiser does not compete with itself.
 */
export function separationOf(
  separation: PlanIndex['separation'],
  a: IndexedLine,
  aBreak: AdBreak,
  b: IndexedLine,
  bBreak: AdBreak,
): SeparationCode | undefined {
  if (a.advertiserId === b.advertiserId)
    return isTooNear(separation.advertiser, aBreak, bBreak) ? 'separated_advertiser' : undefined;
  if (shareAny(a.separationGroups, b.separationGroups) && isTooNear(separation.group, aBreak, bBreak))
    return 'separated_group';
  if (shareAny(a.categories, b.categories) && isTooNear(separation.category, aBreak, bBreak))
    return 'separated_category';
  return undefined;
}
