import { encodingJobKinds } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { forecastPlaces, type QueuePlace, type WaitingJob } from './job-order.ts';
import { listQueue, sumRecentlyServed } from './job-table.ts';

/** Many clients poll at the same time; one forecast serves them all. */
const forecastLifeMs = 1_000;

/** The place of a subject's job in the queue; undefined when it has none. `position` 0: the job runs. */
export type FindQueuePlace = (subjectId: string) => Promise<QueuePlace | undefined>;

async function makeForecast(pool: Pool): Promise<ReadonlyMap<string, QueuePlace>> {
  const [{ queue, pace }, served] = await Promise.all([
    listQueue(pool, encodingJobKinds),
    sumRecentlyServed(pool, encodingJobKinds),
  ]);
  const running = queue.filter(({ runningMs }) => runningMs !== null);
  const remaining = (job: (typeof queue)[number]) => Math.max(0, job.expectedMs * pace - job.runningMs!);
  const waiting: WaitingJob[] = queue.filter(({ runningMs }) => runningMs === null);
  const places = forecastPlaces(
    waiting,
    served,
    running.map((job) => remaining(job) / pace),
  );
  const paced = ({ position, startsInMs, endsInMs }: QueuePlace): QueuePlace => ({
    position,
    startsInMs: Math.round(startsInMs * pace),
    endsInMs: Math.round(endsInMs * pace),
  });
  return new Map([
    ...running.map(
      (job) => [job.subjectId, { position: 0, startsInMs: 0, endsInMs: Math.round(remaining(job)) }] as const,
    ),
    ...queue.flatMap(({ id, subjectId }) => {
      const place = places.get(id);
      return place ? [[subjectId, paced(place)] as const] : [];
    }),
  ]);
}

/**
 * Finds the places of encodings in the queue. Times are an estimate: as if no job were added, with the slots that work now, at the pace of
 * the last hour.
 */
export function createFindQueuePlace(pool: Pool, now: () => number = () => performance.now()): FindQueuePlace {
  let forecast: { readonly madeAt: number; readonly places: Promise<ReadonlyMap<string, QueuePlace>> } | undefined;
  return async (subjectId) => {
    if (!forecast || now() - forecast.madeAt > forecastLifeMs) forecast = { madeAt: now(), places: makeForecast(pool) };
    const { places } = forecast;
    places.catch(() => (forecast = undefined));
    return (await places).get(subjectId);
  };
}
