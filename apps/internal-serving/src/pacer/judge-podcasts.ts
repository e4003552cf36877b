import { unusuallyUnfilled } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import { findCountedUntil } from '../numbers/opportunity-progress-table.ts';
import { listPodcastWeeks, type PodcastWeeks } from '../numbers/opportunity-table.ts';

/** A podcast that had plays in the last five weeks, and what is unusual about its empty slots. */
export interface JudgedPodcast {
  readonly workspaceId: string;
  readonly podcastId: string;
  /** Slots that stayed empty in the last week, and what readers see of them; undefined where their share is usual. */
  readonly unfilled: { readonly units: number; readonly detail: object } | undefined;
}

/** Micros for 1,000 slots: the least floor of a podcast; 0 without one. */
type FindFloor = (workspaceId: string, podcastId: string) => number;

/** Podcasts as far as opportunities are counted. */
export interface PodcastJudgement {
  /** Reads the counts, when six more hours are counted than the last time. */
  read(): Promise<void>;
  /** Undefined until they were read. */
  list(): readonly JudgedPodcast[] | undefined;
}

/** A week moves slowly, and five of them are read. */
const everyMs = 6 * 3_600_000;

const oneDecimal = (percent: number) => Math.round(10 * percent) / 10;

function judge({ workspaceId, podcastId, week, before, noAdReason }: PodcastWeeks, floorMicros: number): JudgedPodcast {
  const found = unusuallyUnfilled(week, before);
  if (!found) return { workspaceId, podcastId, unfilled: undefined };
  const detail = {
    opportunities: week.opportunities,
    percent: oneDecimal(found.percent),
    usual_percent: oneDecimal(found.usualPercent),
    no_ad_reason: noAdReason,
    ...(floorMicros > 0 && { value_at_floor_micros: Math.round((week.unfilled * floorMicros) / 1_000) }),
  };
  return { workspaceId, podcastId, unfilled: { units: week.unfilled, detail } };
}

/** Judges the podcasts of all workspaces by their counts of opportunities. */
export function createPodcastJudgement(pool: Pool, floorOf: FindFloor): PodcastJudgement {
  let podcasts: readonly JudgedPodcast[] | undefined;
  let readUntilMs = -Infinity;
  return {
    async read() {
      const until = await findCountedUntil(pool);
      if (!until || until.getTime() - readUntilMs < everyMs) return;
      const weeks = await listPodcastWeeks(pool, until);
      podcasts = weeks.map((one) => judge(one, floorOf(one.workspaceId, one.podcastId)));
      readUntilMs = until.getTime();
    },
    list: () => podcasts,
  };
}
