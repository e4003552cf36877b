/** Error codes of VAST that inbound documents are refused with. */
export type VastErrorCode = 100 | 101 | 102 | 301 | 302 | 303 | 401 | 403 | 900;

/** What is called when it happens: an impression, an error, a click, or a point of the ad. */
export type TrackerEvent =
  'impression' | 'start' | 'firstQuartile' | 'midpoint' | 'thirdQuartile' | 'complete' | 'click' | 'error';

/** The address is an https one and may hold macros. */
export interface Tracker {
  readonly event: TrackerEvent;
  readonly url: string;
}

export interface MediaFile {
  readonly url: string;
  readonly delivery: 'progressive' | 'streaming';
  /** Media type in small letters, without parameters. */
  readonly type: string;
  readonly isVideo: boolean;
  readonly codec: string | undefined;
  readonly kbps: number | undefined;
  /** Pixels; 0 for sound. */
  readonly width: number;
  readonly height: number;
}

export interface InlineAd {
  readonly id: string | undefined;
  /** Place in a pod; undefined for an ad that stands alone. */
  readonly sequence: number | undefined;
  readonly adType: 'audio' | 'video' | 'hybrid';
  readonly system: string | undefined;
  readonly title: string | undefined;
  readonly servingId: string | undefined;
  readonly creativeId: string | undefined;
  /** Ids of its categories, in whatever taxonomy the source uses; VAST 4.0 and later have them. */
  readonly categories: readonly string[];
  readonly universalAdIds: readonly { readonly registry: string; readonly value: string }[];
  readonly durationMs: number;
  /** At least one. */
  readonly mediaFiles: readonly MediaFile[];
  readonly trackers: readonly Tracker[];
  readonly clickThroughUrl: string | undefined;
  readonly expiresSeconds: number | undefined;
  /** Addresses that were left out, because they are no https address or too long. */
  readonly unusableUrls: number;
}

export interface WrapperAd {
  readonly id: string | undefined;
  /** Where the next document is; it may hold macros. */
  readonly tagUrl: string;
  /** Whether the next document may be a wrapper again. */
  readonly followAdditionalWrappers: boolean;
  /** Whether the next document may answer with several ads. */
  readonly allowMultipleAds: boolean;
  readonly trackers: readonly Tracker[];
  readonly unusableUrls: number;
}

/** An ad that cannot be used, beside others that can. */
export interface RefusedAd {
  readonly id: string | undefined;
  readonly code: VastErrorCode;
  /** One sentence. */
  readonly reason: string;
  /** To be called with the code. */
  readonly errorUrls: readonly string[];
}

export interface Refusal {
  readonly kind: 'refused';
  readonly code: VastErrorCode;
  /** One sentence. */
  readonly reason: string;
  /** To be called with the code. */
  readonly errorUrls: readonly string[];
}

/**
 * What a document holds. `inline`: ads, and wrappers beside them are left out. `wrapper`: no ad, and the first wrapper; `skippedWrappers` says how many
 * were left out. `empty`: the source has no ad now.
 */
export type VastDocument =
  | {
      readonly kind: 'inline';
      readonly version: string;
      readonly ads: readonly InlineAd[];
      readonly refusedAds: readonly RefusedAd[];
      readonly skippedWrappers: number;
    }
  | {
      readonly kind: 'wrapper';
      readonly version: string;
      readonly wrapper: WrapperAd;
      readonly refusedAds: readonly RefusedAd[];
      readonly skippedWrappers: number;
    }
  | { readonly kind: 'empty'; readonly version: string; readonly errorUrls: readonly string[] }
  | Refusal;
