/** Classes by what waits for the job: a person, an episode that has audio already, or a whole import or batch. The order decides ties. */
const workClasses = ['interactive', 're_encoding', 'bulk'] as const;
export type WorkClass = (typeof workClasses)[number];

/** The properties that decide a job's place in the queue. */
export interface Workload {
  readonly workClass: WorkClass;
  /** Milliseconds that it is expected to hold a slot. */
  readonly expectedMs: number;
}

export interface WaitingJob extends Workload {
  readonly id: string;
  readonly workspaceId: string;
  readonly createdAt: Date;
}

/** Recent slot time of the jobs of one class of one workspace, in milliseconds. */
export interface ServedWork extends Workload {
  readonly workspaceId: string;
}

/** Share of the slot time that each class gets while all of them wait. */
const shares: Readonly<Record<WorkClass, number>> = { interactive: 0.7, re_encoding: 0.2, bulk: 0.1 };
/** Slot time of one round of the classes: long enough that one file of a person does not let a batch go first. */
const roundMs = 60_000;

/** Milliseconds to start ffmpeg, fetch the source and store the result. */
const overheadMs = 2_000;
/** Milliseconds of audio that one core encodes in a millisecond (measured in docs/services/encoder.md). */
const soundPerMs = 40;
/** Bytes of a millisecond of audio at 128 kbit/s. */
const bytesPerMs = 16;
/** Half an hour: the assumed duration of an unknown file. */
const usualSoundMs = 1_800_000;

/** The time that a file is expected to hold a slot: by its duration, else by its size, else by that of a usual episode. */
export function expectedEncodingMs(file: {
  /** 0: unknown. */
  readonly durationMs?: number;
  readonly sizeBytes?: number | undefined;
  /** Number of encodings of the file. */
  readonly times?: number;
}): number {
  const { durationMs = 0, sizeBytes = 0, times = 1 } = file;
  const soundMs = durationMs || sizeBytes / bytesPerMs || usualSoundMs;
  return Math.round(overheadMs + (soundMs * times) / soundPerMs);
}

/**
 * The time that the pictures of a file are expected to hold a slot.
 * @param cost processor time of a second of them, in seconds
 */
export const expectedPictureMs = (durationMs: number, cost: number): number =>
  Math.round(overheadMs + (durationMs || usualSoundMs) * cost);

/** Recent slot time by class, and by class and workspace. */
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
 * Orders waiting classes by the rounds of their share that they were served lately, the fewest first, so that none starves; equal ones by
 * urgency.
 */
function compareClasses(a: WorkClass, b: WorkClass, served: ServedSums): number {
  const roundsOf = (workClass: WorkClass) => Math.floor(served.of(workClass) / shares[workClass] / roundMs);
  return roundsOf(a) - roundsOf(b) || workClasses.indexOf(a) - workClasses.indexOf(b);
}

/**
 * Orders two waiting jobs of one class; below 0 when `a` goes first. The workspace that was served least goes first; among its jobs, and
 * among workspaces that were served alike, the shortest goes first, then the oldest.
 */
function compareInClass(a: WaitingJob, b: WaitingJob, served: ServedSums): number {
  return (
    served.of(a.workClass, a.workspaceId) - served.of(b.workClass, b.workspaceId) ||
    a.expectedMs - b.expectedMs ||
    a.createdAt.getTime() - b.createdAt.getTime() ||
    (a.id < b.id ? -1 : 1)
  );
}

/** The next job, or undefined when none waits. */
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
 * The places of all waiting jobs if no further job comes: the slots that work now, each busy for `remainingMs`, take one job after the
 * other.
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

/** Lists of jobs by workspace. The next workspace is last, and in each list the next job is last. */
type ClassQueue = WaitingJob[][];

function queueOf(waiting: readonly WaitingJob[], workClass: WorkClass, served: ServedSums): ClassQueue {
  const own = waiting.filter((job) => job.workClass === workClass);
  return [...Map.groupBy(own, ({ workspaceId }) => workspaceId).values()]
    .map((jobs) => jobs.sort((a, b) => compareInClass(b, a, served)))
    .sort((a, b) => compareInClass(b.at(-1)!, a.at(-1)!, served));
}

/** Removes the next job, and moves its workspace to its new place in the order of workspaces. */
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
