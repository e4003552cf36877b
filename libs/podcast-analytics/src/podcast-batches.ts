import type { Asker } from '@longwave/hosting-client';
import type { MeasuredPodcast } from './analytics-gate.ts';

/** Podcasts that analytics-sink takes in one request. */
const maxPodcasts = 1000;

/** Podcasts of one workspace. */
export interface PodcastBatch {
  readonly workspaceId: string;
  readonly podcastIds: string[];
}

/** Podcasts by workspace, as many together as one request to analytics-sink takes. */
export const podcastBatches = (measured: readonly MeasuredPodcast[]): PodcastBatch[] =>
  [...Map.groupBy(measured, ({ access }) => access.workspaceId)].flatMap(([workspaceId, members]) =>
    Array.from({ length: Math.ceil(members.length / maxPodcasts) }, (_, page) => ({
      workspaceId,
      podcastIds: members.slice(page * maxPodcasts, (page + 1) * maxPodcasts).map(({ podcast }) => podcast.id),
    })),
  );

/** The same; without any podcast one empty batch, whose answer still says until when counting is complete. */
export function batchesOrNone(
  caller: Pick<Asker, 'workspaceId'>,
  measured: readonly MeasuredPodcast[],
): PodcastBatch[] {
  const batches = podcastBatches(measured);
  return batches.length > 0 ? batches : [{ workspaceId: caller.workspaceId, podcastIds: [] }];
}
