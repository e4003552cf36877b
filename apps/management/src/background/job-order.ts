/** Who waits for a job: a person, an episode that sounds already, or a whole import or batch. The order decides ties. */
const workClasses = ['interactive', 're_encoding', 'bulk'] as const;
export type WorkClass = (typeof workClasses)[number];

/** How a job is ordered among others. */
export interface Workload {
  readonly workClass: WorkClass;
  /** How long it is expected to hold a slot, milliseconds. */
  readonly expectedMs: number;
}

export interface WaitingJob extends Workload {
  readonly id: string;
  readonly workspaceId: string;
  readonly createdAt: Date;
}

/** Slot time that the jobs of one class of one workspace took lately, milliseconds. */
export interface ServedWork extends Workload {
  readonly workspaceId: string;
}

/** Parts of the slot time that each class gets while all of them wait. */
const shares: Readonly<Record<WorkClass, number>> = { interactive: 0.7, re_encoding: 0.2, bulk: 0.1 };
/** The classes take turns within so much slot time, so that one file of a person does not let a batch go first. */
const roundMs = 60_000;

/** Starting ffmpeg, fetching and storing. */
const overheadMs = 2_000;
/** Sound that one processor core encodes in one millisecond (docs/services/encoder.md has the measurements). */
const soundPerMs = 40;
/** Bytes of a millisecond of sound at 128 kbit/s. */
const bytesPerMs = 16;
/** Half an hour: what an episode lasts of which nothing is known. */
const usualSoundMs = 1_800_000;

/** How long a file is expected to hold a slot: by its duration, else by its size, else as a usual episode does. */
export function expectedEncodingMs(file: {
  /** 0: nobody could tell. */
  readonly durationMs?: number;
  readonly sizeBytes?: number | undefined;
  /** How often the file is encoded. */
  readonly times?: number;
}): number {
  const { durationMs = 0, sizeBytes = 0, times = 1 } = file;
  const soundMs = durationMs || sizeBytes / bytesPerMs || usualSoundMs;
  return Math.round(overheadMs + (soundMs * times) / soundPerMs);
}

/** What was served lately: to each class, and in it to each workspace. */
export interface ServedSums {
  of(workClass: WorkClass, workspaceId?: string): number;
  add(work: ServedWork): void;
}

export function sumServed(served: Iterable<ServedWork>): ServedSums {
  const sums = new Map<string, number>();
  const add = ({ workClass, workspaceId, expectedMs }: ServedWork) => {
    for (const key of [`${workClass}:`, `${workClass}:${workspaceId}`])
      sums.set(key, (sums.get(key) ?? 0) + expectedMs);
  };
  for (const work of served) add(work);
  return { of: (workClass, workspaceId = '') => sums.get(`${workClass}:${workspaceId}`) ?? 0, add };
}

/**
 * The order of the classes that wait: the one that had its share in the fewest rounds of what was served lately, so that none starves;
 * of those that are even, the one that is more urgent.
 */
function compareClasses(a: WorkClass, b: WorkClass, served: ServedSums): number {
  const roundsOf = (workClass: WorkClass) => Math.floor(served.of(workClass) / shares[workClass] / roundMs);
  return roundsOf(a) - roundsOf(b) || workClasses.indexOf(a) - workClasses.indexOf(b);
}

/**
 * The order of two waiting jobs of one class; below 0 when `a` goes first. The workspace that was served least goes first; of its
 * jobs, and of workspaces that were served alike, the shortest, then the oldest.
 */
function compareInClass(a: WaitingJob, b: WaitingJob, served: ServedSums): number {
  return (
    served.of(a.workClass, a.workspaceId) - served.of(b.workClass, b.workspaceId) ||
    a.expectedMs - b.expectedMs ||
    a.createdAt.getTime() - b.createdAt.getTime() ||
    (a.id < b.id ? -1 : 1)
  );
}

/** The job that goes next, or undefined when none waits. */
export const nextJob = <J extends WaitingJob>(waiting: readonly J[], served: ServedSums): J | undefined =>
  waiting.toSorted((a, b) => compareClasses(a.workClass, b.workClass, served) || compareInClass(a, b, served))[0];

/** When a waiting job is expected to begin and to end, counted from now, and how many go before it. */
export interface QueuePlace {
  /** 1 is the next one. */
  readonly position: number;
  readonly startsInMs: number;
  readonly endsInMs: number;
}

/**
 * The places of all waiting jobs, by what happens when nothing else comes: the slots that work now, each busy for `remainingMs`, take
 * one job after the other.
 */
export function forecastPlaces(
  waiting: readonly WaitingJob[],
  served: ServedSums,
  remainingMs: readonly number[],
): Map<string, QueuePlace> {
  const lines = new Map(workClasses.map((each) => [each, queueOf(waiting, each, served)]));
  const slots = remainingMs.length > 0 ? [...remainingMs] : [0];
  const places = new Map<string, QueuePlace>();
  for (let position = 1; position <= waiting.length; position++) {
    const [first] = workClasses
      .filter((each) => lines.get(each)!.length > 0)
      .sort((a, b) => compareClasses(a, b, served));
    const job = takeFirst(lines.get(first!)!, served);
    const slot = slots.indexOf(Math.min(...slots));
    const startsInMs = slots[slot]!;
    slots[slot] = startsInMs + job.expectedMs;
    places.set(job.id, { position, startsInMs, endsInMs: slots[slot] });
  }
  return places;
}

/** The jobs of each workspace, the next one last; the workspaces in order, the next one last. */
type ClassQueue = WaitingJob[][];

function queueOf(waiting: readonly WaitingJob[], workClass: WorkClass, served: ServedSums): ClassQueue {
  const own = waiting.filter((job) => job.workClass === workClass);
  return [...Map.groupBy(own, ({ workspaceId }) => workspaceId).values()]
    .map((jobs) => jobs.sort((a, b) => compareInClass(b, a, served)))
    .sort((a, b) => compareInClass(b.at(-1)!, a.at(-1)!, served));
}

/** Takes the next job out and puts its workspace where it belongs after that; nobody else's place among the workspaces changes. */
function takeFirst(queue: ClassQueue, served: ServedSums): WaitingJob {
  const jobs = queue.pop()!;
  const job = jobs.pop()!;
  served.add(job);
  const next = jobs.at(-1);
  if (!next) return job;
  let [low, high] = [0, queue.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareInClass(queue[middle]!.at(-1)!, next, served) > 0) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, jobs);
  return job;
}
