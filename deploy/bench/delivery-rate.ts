import path from 'node:path';
import type { Fleet } from '@longwave/fleet';
import { startBaseline } from './baseline-server.ts';
import { findLoadTool, load, openLoad, type Load, type OpenLoad } from './load.ts';
import { compare, median, type Row } from './measure.ts';
import { startNginx } from './nginx.ts';
import type { Stitched } from './stitched.ts';

const secondsPerRound = 3;
const rangeBytes = 64 * 1024;

/**
 * Stitched audio against nginx serving the same bytes as one static file, both under wrk: whole files, and ranges of 64 KiB. The
 * counting of the facts is stopped meanwhile: it belongs to another process, which has a core of its own elsewhere.
 * @returns no row when nginx or wrk is missing, which standard error says
 */
export async function rangeThroughput(fleet: Fleet, stitched: Stitched, folder: string): Promise<Row[]> {
  const tool = await findLoadTool();
  using nginx = await startNginx(path.join(folder, 'nginx'), { 'whole.mp3': stitched.bytes });
  if (!tool || !nginx) return [];
  const size = stitched.bytes.length;
  const ranges = Array.from({ length: 500 }, (_, i) => {
    const from = (i * 7919 * 384) % (size - rangeBytes);
    return `bytes=${from}-${from + rangeBytes - 1}`;
  });
  const options = { folder: path.join(folder, 'wrk'), seconds: secondsPerRound };
  const rows: Row[] = [];
  await fleet.services['analytics-sink'].stop();
  for (const [name, unit, asked, connections, of] of [
    ['stitched audio, whole files', 'MB/s', [''], 4, (done: Load) => done.megabytesPerSecond],
    ['stitched audio, 64 KiB ranges', '/s', ranges, 16, (done: Load) => done.requestsPerSecond],
  ] as const) {
    const measure = (url: string) => async () => {
      const done = await load(tool, url, { ranges: asked }, { ...options, connections });
      return { value: of(done), items: done.requests };
    };
    rows.push(
      await compare(
        { name, unit, baselineName: 'nginx, one worker, one static file' },
        3,
        measure(stitched.mediaUrl),
        measure(`${nginx.url}whole.mp3`),
      ),
    );
  }
  await fleet.services['analytics-sink'].start();
  return rows;
}

const baselineName = 'a bare redirect by node:http';

/** The time that 99 of 100 new listeners wait at most while half as many come as could be served at best, against a baseline. */
export function waitAtHalfLoad(
  row: Pick<Row, 'name' | 'baselineName'>,
  url: string,
  baselineUrl: string,
  best: number,
): Promise<Row> {
  const p99 = (of: string) => async () => (await openLoad(of, best / 2, secondsPerRound)).p99Ms;
  const name = `${row.name}, p99 at half of the greatest load (less is better)`;
  return compare({ ...row, name, unit: 'ms' }, 3, p99(url), p99(baselineUrl));
}

/** Plays that public-delivery left without ads since its start. */
async function countMissedDecisions(fleet: Fleet): Promise<number> {
  const metrics = await (await fetch(`http://${fleet.adminAddresses['public-delivery']}/metrics`)).text();
  const samples = metrics.matchAll(/^longwave_delivery_decisions_missed_total\{.*\} (\S+)$/gm);
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}

/**
 * New listeners per second while twice as many come as can be served at best: some get no ads, others are refused, and those who are served
 * wait no longer.
 */
async function overload(fleet: Fleet, url: string, best: number, bestP99: number): Promise<Row[]> {
  const loads: (OpenLoad & { readonly missed: number })[] = [];
  for (let round = 0; round < 4; round++) {
    const missedBefore = await countMissedDecisions(fleet);
    const result = await openLoad(url, 2 * best, secondsPerRound);
    loads.push({ ...result, missed: (await countMissedDecisions(fleet)) - missedBefore });
  }
  const of = (value: (each: (typeof loads)[number]) => number) => median(loads.slice(1).map(value));
  const refused = Math.round(of((each) => (100 * each.refused) / (each.refused + each.accepted)));
  const withoutAds = Math.round(of((each) => (100 * each.missed) / Math.max(1, each.accepted)));
  const ours = of((each) => each.acceptedPerSecond);
  const [p99, refusedP99] = [of((each) => each.p99Ms), of((each) => each.refusedP99Ms)];
  return [
    {
      name: `resolve and decide at twice the greatest load (${withoutAds} % served without ads; ${refused} % refused, each within ${Math.round(refusedP99)} ms)`,
      ...{ unit: '/s', ours, baseline: best, baselineName: 'the greatest load', ratio: ours / best },
    },
    {
      name: 'resolve and decide, p99 of those served then (less is better)',
      ...{ unit: 'ms', ours: p99, baseline: bestP99, baselineName: 'p99 at the greatest load', ratio: p99 / bestP99 },
    },
  ];
}

/**
 * New listeners per second through the enclosure (decision, arrangement and binding stored, redirect), and the time that 99 of 100
 * of them wait at most, against a bare redirect by node:http; then at half and at twice of that load.
 */
export async function resolveRate(fleet: Fleet, stitched: Stitched, folder: string): Promise<Row[]> {
  const tool = await findLoadTool();
  if (!tool) return [];
  using redirect = await startBaseline('redirect-server.ts', stitched.mediaUrl);
  const options = { folder: path.join(folder, 'wrk'), connections: 16, seconds: secondsPerRound };
  const waits: { readonly ours: number[]; readonly baseline: number[] } = { ours: [], baseline: [] };
  const measure = (url: string, kept: number[]) => async () => {
    const done = await load(tool, url, { newListeners: true }, options);
    kept.push(done.p99Ms);
    return { value: done.requestsPerSecond, items: done.requests };
  };
  const row = await compare(
    { name: 'resolve and decide, new listeners', unit: '/s', baselineName },
    3,
    measure(stitched.enclosureUrl, waits.ours),
    measure(redirect.url, waits.baseline),
  );
  const [ours, baseline] = [median(waits.ours.slice(1)), median(waits.baseline.slice(1))];
  const name = 'resolve and decide, p99 at the greatest load (less is better)';
  return [
    row,
    { name, unit: 'ms', baselineName, ours, baseline, ratio: ours / baseline },
    await waitAtHalfLoad({ name: 'resolve and decide', baselineName }, stitched.enclosureUrl, redirect.url, row.ours),
    ...(await overload(fleet, stitched.enclosureUrl, row.ours, ours)),
  ];
}
