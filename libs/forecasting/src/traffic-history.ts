/** Opportunities (slots offered) in one hour; the hour is `Math.floor(atMs / 3_600_000)` of UTC. */
export type HourCount = readonly [hour: number, opportunities: number];

/** One episode as it was known at a time; of a scheduled one `publishedAtMs` lies ahead. */
export interface EpisodeHistory {
  readonly episodeId: string;
  readonly publishedAtMs: number;
  /** When its time of publication was first known. Absent: always. */
  readonly knownAtMs?: number;
  /** Ascending; hours without any are left out. */
  readonly hours: readonly HourCount[];
}

/** The hourly opportunities of one podcast, those of some 90 days at least. */
export interface PodcastHistory {
  readonly podcastId: string;
  readonly language: string;
  readonly contentCategories: readonly string[];
  readonly episodes: readonly EpisodeHistory[];
}

/** A change of traffic that somebody expects; half-open window. Two that overlap multiply. */
export interface TrafficModifier {
  readonly modifierId: string;
  /** Null for all podcasts. */
  readonly podcastId: string | null;
  readonly fromMs: number;
  readonly toMs: number;
  /** 1.2 for a fifth more. */
  readonly factor: number;
}

/** All that a forecast of traffic is made from. */
export interface TrafficInputs {
  /** The time as of which it is made: later hours and episodes that were not known then are not read. */
  readonly nowMs: number;
  /** IANA name; weeks and days are those of this zone. */
  readonly timeZone: string;
  readonly podcasts: readonly PodcastHistory[];
  readonly modifiers?: readonly TrafficModifier[];
}

/** Half-open window. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}
