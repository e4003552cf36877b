import type { AdBreak, DecisionContext } from '@longwave/ad-decision';

/** One play of the past, as the sample keeps it: what a decision reads of it, and nothing that tells who listened. */
export interface SamplePlay extends Pick<
  DecisionContext,
  | 'podcastId'
  | 'episodeId'
  | 'country'
  | 'region'
  | 'surface'
  | 'device'
  | 'operatingSystem'
  | 'app'
  | 'language'
  | 'explicit'
  | 'contentCategories'
  | 'publishedAtMs'
  | 'adLoadLimitMs'
  | 'streamFormat'
  | 'streamFormats'
> {
  /** To five minutes. */
  readonly atMs: number;
  readonly breaks: readonly AdBreak[];
  /** Six bytes in hex that plays of one listener in one month have in common; '' when there was none. */
  readonly listener: string;
  /** Plays that it stands for; at least 1. */
  readonly weight: number;
  /** Line items that the play was given, one per filled slot. */
  readonly lineItemIds: readonly string[];
  readonly noAdReason: string;
}
