import type { TrafficModifier } from './traffic-history.ts';

/** How the traffic of an episode falls with its age: shares of the whole by hour to 72, then by day to 56; together 1. */
export interface Decay {
  /** 72 shares of one hour each. */
  readonly hours: Float64Array;
  /** 53 shares of one day each, of days 3 to 55. */
  readonly days: Float64Array;
}

/** Podcasts by the opportunities of their last 28 days, per day: < 100, < 1k, < 10k, more. */
export type SizeClass = 0 | 1 | 2 | 3;

/** What podcasts have in common, for those that know little of themselves. */
export interface NetworkCurves {
  /** Factor by hour of the local week, mean 1; 0 = Monday 00:00. */
  readonly week: Float64Array;
  readonly decays: readonly Decay[];
  /** First releases of podcasts, for new ones. */
  readonly firstLevels: readonly {
    readonly podcastId: string;
    readonly language: string;
    readonly contentCategories: readonly string[];
    readonly level: number;
  }[];
  /** Median level of an episode; 0 without any. */
  readonly level: number;
}

/** An episode that is out, scheduled, or expected by cadence. */
export interface ExpectedEpisode {
  /** Absent for one that only the cadence expects. */
  readonly episodeId?: string;
  readonly publishedAtMs: number;
  /** Opportunities in its 56 days. */
  readonly level: number;
  /** Probability that it comes out; 1 when it is out or scheduled. */
  readonly probability: number;
}

/** The curves of one podcast. */
export interface PodcastCurves {
  readonly podcastId: string;
  readonly sizeClass: SizeClass;
  readonly week: Float64Array;
  readonly decay: Decay;
  /** Opportunities an hour of episodes older than 56 days, before `week`. */
  readonly tail: number;
  /** Of its next episode. */
  readonly level: number;
  /** Episodes that are out or scheduled. */
  readonly episodes: readonly ExpectedEpisode[];
  readonly cadence: Cadence;
  /** Fewer than 14 days of history, or nothing that says what an episode of it gets. */
  readonly isNew: boolean;
  /** Fewer than 14 days of history, or fewer than 3 episodes. */
  readonly learning: boolean;
}

/** When a podcast releases: hours of the local week, each with how often it was kept lately. */
export interface Cadence {
  /** Usual time between two releases. */
  readonly gapMs: number;
  readonly slots: readonly {
    /** Of the local week, 0 = Monday 00:00. */
    readonly weekHour: number;
    /** Weeks from one release in it to the next. */
    readonly everyWeeks: number;
    readonly lastAtMs: number;
    readonly hitRate: number;
  }[];
}

/** The curves of all podcasts, as of a time. */
export interface TrafficModel {
  readonly nowMs: number;
  readonly timeZone: string;
  readonly network: NetworkCurves;
  readonly podcasts: ReadonlyMap<string, PodcastCurves>;
  readonly modifiers: readonly TrafficModifier[];
}
