import type { Finding, Level } from './finding.ts';
import type { Presentation } from './presentation.ts';
import { answerRules } from './rules/answer-rules.ts';
import { assetRules } from './rules/asset-rules.ts';
import { dateRangeRules } from './rules/date-range-rules.ts';
import { mediaRules } from './rules/media-rules.ts';
import { playlistRules } from './rules/playlist-rules.ts';
import { rateRules } from './rules/rate-rules.ts';
import type { Rule } from './rules/rule.ts';
import { variantRules } from './rules/variant-rules.ts';

/**
 * `apple`: what Apple Podcasts takes, which is video. `general`: what any player needs; what Apple Podcasts alone demands is a warning, and
 * video is not demanded.
 */
export type Profile = 'apple' | 'general';

/** The numbers of Apple's rules, and those without behind them. */
const placeOf = ({ id }: Rule): number => Number(/^A(\d+)$/.exec(id)?.[1] ?? Infinity);

/** Every rule, in the order in which findings are shown. Several may have one number: A2 has three demands. */
export const rules: readonly Rule[] = [
  ...playlistRules,
  ...variantRules,
  ...dateRangeRules,
  ...assetRules,
  ...mediaRules,
  ...rateRules,
  ...answerRules,
].sort((a, b) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)));

function* judge(presentation: Presentation, rule: Rule, profile: Profile, checkedAt: number): Generator<Finding> {
  if ((presentation.isAd && !rule.inAds) || (profile === 'general' && rule.general === 'off')) return;
  const most: Level = profile === 'general' && rule.general === 'warning' ? 'warning' : 'failure';
  for (const { level, where, message } of rule.check(presentation, { checkedAt }))
    yield { rule: rule.id, level: most === 'warning' ? 'warning' : level, where, message };
}

/** The presentation and those of its ads, each once. */
const withAds = (presentation: Presentation): readonly Presentation[] => [
  presentation,
  ...new Set(presentation.breaks.flatMap(({ assets }) => assets.flatMap((asset) => asset.presentation ?? []))),
];

/**
 * Everything that a profile has against a presentation and its ads: what could not be read first, then rule by rule.
 * @param options.checkedAt milliseconds since 1970
 */
export function checkPresentation(
  presentation: Presentation,
  options: { readonly profile: Profile; readonly checkedAt: number },
): readonly Finding[] {
  return withAds(presentation).flatMap((each) => [
    ...each.findings,
    ...rules.flatMap((rule) => [...judge(each, rule, options.profile, options.checkedAt)]),
  ]);
}
