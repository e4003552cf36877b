import type { Issue, RuleId } from '../finding.ts';
import type { Presentation } from '../presentation.ts';

/** What rules are asked about besides the presentation. */
interface RuleContext {
  /** The time of the check, in milliseconds since 1970. */
  readonly checkedAt: number;
}

/** One demand on a presentation. */
export interface Rule {
  readonly id: RuleId;
  /** The demand, in one sentence. */
  readonly demands: string;
  /** Where it is written. */
  readonly source: string;
  /** In the profile `general`: judged alike, as a warning at most, or not at all. */
  readonly general: 'same' | 'warning' | 'off';
  /** Whether it is asked of the presentations of ads, too. */
  readonly inAds: boolean;
  readonly check: (presentation: Presentation, context: RuleContext) => Iterable<Issue>;
}

/** Documents that rules come from. */
export const sources = {
  podcasts: 'Apple, HLS profile of Apple Podcasts 1.05 (September 2026)',
  authoring: 'Apple, HLS Authoring Specification for Apple Devices',
  interstitials: 'draft-pantos-hls-rfc8216bis-22, Appendix D',
  mp4: 'ISO/IEC 14496-12, ISO/IEC 23000-19 (CMAF)',
  rfc: (section: string) => `RFC 8216 §${section}`,
  longwave: 'docs/hls-check.md',
} as const;
