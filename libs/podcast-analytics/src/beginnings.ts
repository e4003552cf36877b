import { callOptions, type Asker } from '@longwave/hosting-client';
import pMap from 'p-map';
import type { MeasuredPodcast } from './analytics-gate.ts';
import { podcastBatches } from './podcast-batches.ts';
import type { AnalyticsDeps } from './question.ts';

/** Requests that are open at the same time. */
const maxConcurrent = 8;

/**
 * When the numbers of podcasts begin, milliseconds since the epoch, by podcast id: with the podcast, or with its first download where
 * that is earlier, as of a podcast that moved here and whose earlier listeners were reported by another party.
 */
export async function findBeginnings(
  caller: Asker,
  measured: readonly MeasuredPodcast[],
  { audience }: Pick<AnalyticsDeps, 'audience'>,
): Promise<ReadonlyMap<string, number>> {
  const answers = await pMap(
    podcastBatches(measured),
    (batch) => audience.findFirstDownloads(batch, callOptions(caller)),
    { concurrency: maxConcurrent },
  );
  const firstDownloads = new Map(
    answers.flatMap(({ podcasts }) => podcasts.map(({ podcastId, hourMs }) => [podcastId, Number(hourMs)])),
  );
  return new Map(
    measured.map(({ podcast: { id, created_at } }) => [
      id,
      Math.min(Date.parse(created_at), firstDownloads.get(id) ?? Infinity),
    ]),
  );
}
