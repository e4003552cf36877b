import { expect, test } from '@jest/globals';
import {
  expectedEncodingMs,
  forecastPlaces,
  nextJob,
  sumServed,
  type WaitingJob,
  type WorkClass,
} from './job-order.ts';

let count = 0;
const job = (workClass: WorkClass, workspaceId: string, expectedMs: number): WaitingJob => {
  count++;
  return {
    id: `job_${String(count).padStart(6, '0')}`,
    workClass,
    workspaceId,
    expectedMs,
    createdAt: new Date(count),
  };
};
const many = (times: number, make: () => WaitingJob) => Array.from({ length: times }, make);

/** The jobs that one slot takes within `ms`, in order. */
function serve(waiting: readonly WaitingJob[], ms: number, served = sumServed([])): WaitingJob[] {
  const places = forecastPlaces(waiting, served, [0]);
  const placeOf = (one: WaitingJob) => places.get(one.id)!;
  return waiting
    .filter((one) => placeOf(one).startsInMs < ms)
    .sort((a, b) => placeOf(a).position - placeOf(b).position);
}
const timeOf = (jobs: readonly WaitingJob[], keep: (one: WaitingJob) => boolean) =>
  jobs.filter(keep).reduce((sum, { expectedMs }) => sum + expectedMs, 0);

test('a person’s file goes next, however long an import of another workspace has been waiting', () => {
  const imported = many(500, () => job('bulk', 'ws_import', 2_200));
  const served = sumServed(many(100, () => job('bulk', 'ws_import', 2_200)));
  const one = job('interactive', 'ws_one', 2_200);
  expect(nextJob([...imported, one], served)).toBe(one);
  expect(nextJob([...imported, one], sumServed([]))).toBe(one);
});

test('no class starves: while all three wait they share the time as 7 to 2 to 1', () => {
  const waiting = (['bulk', 're_encoding', 'interactive'] as const).flatMap((each) =>
    many(1_000, () => job(each, 'ws_1', 3_000)),
  );
  const done = serve(waiting, 600_000);
  const share = (each: WorkClass) => timeOf(done, ({ workClass }) => workClass === each) / 600_000;
  expect(share('interactive')).toBeCloseTo(0.7, 1);
  expect(share('re_encoding')).toBeCloseTo(0.2, 1);
  expect(share('bulk')).toBeCloseTo(0.1, 1);
});

test('within a class, a workspace that was served little goes before one that was served much', () => {
  const served = sumServed(many(50, () => job('bulk', 'ws_many', 2_200)));
  const waiting = [...many(100, () => job('bulk', 'ws_many', 2_200)), ...many(10, () => job('bulk', 'ws_few', 2_200))];
  expect(serve(waiting, 22_000, served).every(({ workspaceId }) => workspaceId === 'ws_few')).toBe(true);
});

test('workspaces with much to do are served the same time, whether their files are long or short', () => {
  const waiting = [
    ...many(50, () => job('interactive', 'ws_long', 90_000)),
    ...many(2_000, () => job('interactive', 'ws_short', 2_200)),
  ];
  const done = serve(waiting, 1_800_000);
  const long = timeOf(done, ({ workspaceId }) => workspaceId === 'ws_long');
  expect(Math.abs(long / 1_800_000 - 0.5)).toBeLessThan(0.1);
});

test('among the jobs of one workspace short ones go before long ones, and older ones before newer ones', () => {
  const [long, first, second] = [
    job('interactive', 'ws_1', 270_000),
    job('interactive', 'ws_1', 2_300),
    job('interactive', 'ws_1', 2_300),
  ];
  expect(serve([second, long, first], 300_000)).toEqual([first, second, long]);
});

test('a forecast tells the places and times at which the slots will take the jobs', () => {
  const bulk = many(3, () => job('bulk', 'ws_import', 10_000));
  const one = job('interactive', 'ws_one', 4_000);
  const places = forecastPlaces([...bulk, one], sumServed([]), [6_000]);
  expect(places.get(one.id)).toEqual({ position: 1, startsInMs: 6_000, endsInMs: 10_000 });
  expect(bulk.map(({ id }) => places.get(id))).toEqual([
    { position: 2, startsInMs: 10_000, endsInMs: 20_000 },
    { position: 3, startsInMs: 20_000, endsInMs: 30_000 },
    { position: 4, startsInMs: 30_000, endsInMs: 40_000 },
  ]);
  const two = forecastPlaces([...bulk, one], sumServed([]), [6_000, 0]);
  expect(bulk.map(({ id }) => two.get(id)!.startsInMs)).toEqual([4_000, 6_000, 14_000]);
});

test('a forecast has the order in which jobs are claimed', () => {
  const classes = ['interactive', 're_encoding', 'bulk'] as const;
  const waiting = Array.from({ length: 300 }, (_, i) =>
    job(classes[(i * 7) % 3]!, `ws_${(i * i) % 11}`, 2_000 + ((i * 13) % 17) * 4_000),
  );
  const left = [...waiting];
  const served = sumServed([]);
  const claimed: WaitingJob[] = [];
  for (let next = nextJob(left, served); next; next = nextJob(left, served)) {
    left.splice(left.indexOf(next), 1);
    served.add(next);
    claimed.push(next);
  }
  expect(serve(waiting, Infinity)).toEqual(claimed);
});

test('the time of a file is estimated by its duration, else by its size, else by a usual episode', () => {
  expect(expectedEncodingMs({ durationMs: 600_000 })).toBe(17_000);
  expect(expectedEncodingMs({ durationMs: 0, sizeBytes: 9_600_000 })).toBe(17_000);
  expect(expectedEncodingMs({ durationMs: 30_000, times: 6 })).toBe(6_500);
  expect(expectedEncodingMs({})).toBe(47_000);
});
