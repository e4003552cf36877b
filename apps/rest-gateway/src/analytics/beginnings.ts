import pMap from 'p-map';
import type { Call, Tools } from '../route.ts';
import { asking } from './analytics-answer.ts';
import type { MeasuredPodcast } from './analytics-gate.ts';

/** What analytics-sink takes in one question. */
const mostPodcasts = 1000;
/** Questions that are open at the same time. */
const atOnce = 8;

/**
 * When the numbers of podcasts begin, milliseconds since the epoch, by podcast id: with the podcast, or with its first download where
 * that is earlier, as of a podcast that moved here and whose earlier listeners were reported by another party.
 */
export async function findBeginnings(
  caller: Call['caller'],
  measured: readonly MeasuredPodcast[],
  { audience }: Pick<Tools, 'audience'>,
): Promise<ReadonlyMap<string, number>> {
  const byWorkspace = Map.groupBy(measured, ({ access }) => access.workspaceId);
  const questions = [...byWorkspace].flatMap(([workspaceId, members]) =>
    Array.from({ length: Math.ceil(members.length / mostPodcasts) }, (_, page) => ({
      workspaceId,
      podcastIds: members.slice(page * mostPodcasts, (page + 1) * mostPodcasts).map(({ podcast }) => podcast.id),
    })),
  );
  const answers = await pMap(questions, (question) => audience.findFirstDownloads(question, asking(caller)), {
    concurrency: atOnce,
  });
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
