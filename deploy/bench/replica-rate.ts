import path from 'node:path';
import { removeDataFolder, startFleet, temporaryDataFolder, type Fleet } from '@longwave/fleet';
import { samples } from '@longwave/local/samples';
import type { ServiceName } from '@longwave/services';
import { makeAudio } from '@longwave/test-kit';
import { openOperator } from '@longwave/test-kit/clients';
import { openCounting } from './count-rate.ts';
import { openCpuLimits } from './limit-cpu.ts';
import { findLoadTool, load, type Requests } from './load.ts';
import { middleOf, type Round, type Row } from './measure.ts';
import { publishStitched } from './stitched.ts';

/** The share of each process: so small that the machine carries several, and the processes are the bound. */
const coresOfProcess = 0.2;
const rangeBytes = 64 * 1024;
const rounds = 3;

interface Scaled {
  readonly name: string;
  readonly unit: string;
  /** Whose processes are limited, and one or two of which run. */
  readonly services: readonly ServiceName[];
  readonly round: () => Promise<Round>;
}

/**
 * Compares two processes of a service with one, each with a fifth of a processor: counting, stitched ranges, new plays. The
 * baseline is the single process, so 2 is the most that can be. No row where processes cannot be limited, or without wrk.
 */
export async function replicaRates(): Promise<readonly Row[]> {
  const tool = await findLoadTool();
  using limits = openCpuLimits(coresOfProcess);
  if (!limits || !tool) {
    console.error('  (rows of several processes need Linux as root, and wrk: left out)');
    return [];
  }
  const data = temporaryDataFolder();
  try {
    const audio = makeAudio(data.inside('bench.wav'), 60);
    await using fleet = await startFleet({
      dataFolder: data.root,
      ports: 'free',
      replicas: 2,
      trustedProxies: '127.0.0.1/32',
    });
    const operator = openOperator(fleet);
    const stitched = await publishStitched(fleet, operator, { audio, ad: samples.ad, artwork: samples.artwork });
    operator.close();
    await using counting = await openCounting(fleet);
    const options = { folder: path.join(data.root, 'wrk'), connections: 64, seconds: 5 };
    const asked = (url: string, requests: Requests) => async () => {
      const done = await load(tool, url, requests, options);
      return { value: done.requestsPerSecond, items: done.requests };
    };
    const ranges = Array.from({ length: 500 }, (_, i) => {
      const from = (i * 7919 * 384) % (stitched.bytes.length - rangeBytes);
      return `bytes=${from}-${from + rangeBytes - 1}`;
    });
    const scaled: readonly Scaled[] = [
      { name: 'counting', unit: 'facts/s', services: ['analytics-sink'], round: counting.count },
      {
        name: 'stitched audio, 64 KiB ranges',
        unit: '/s',
        services: ['public-delivery'],
        round: asked(stitched.mediaUrl, { ranges }),
      },
      {
        name: 'resolve and decide, new listeners',
        unit: '/s',
        services: ['public-delivery', 'internal-serving'],
        round: asked(stitched.enclosureUrl, { newListeners: true }),
      },
    ];
    const rows: Row[] = [];
    for (const each of scaled) rows.push(await measureScaled(fleet, limits.limit, each));
    return rows;
  } finally {
    removeDataFolder(data);
  }
}

async function measureScaled(
  fleet: Fleet,
  limit: (name: string, pid: number) => void,
  { name, unit, services, round }: Scaled,
): Promise<Row> {
  const processes = services.flatMap((service) => fleet.replicas[service]);
  const seconds = services.map((service) => fleet.replicas[service][1]!);
  const limitAll = () =>
    processes.forEach((each) => each.pid !== undefined && !each.isStopping && limit(each.name, each.pid));
  await Promise.all(seconds.map((each) => each.stop()));
  limitAll();
  const one = await middleOf(rounds, round);
  for (const each of seconds) {
    await each.start();
    await each.ready();
  }
  limitAll();
  const two = await middleOf(rounds, round);
  // The next measurement begins with processes that are not limited.
  for (const each of processes) await each.restart();
  return {
    name: `${name}, by two processes of ${coresOfProcess} cores (${services.join(', ')})`,
    ...{ unit, ours: two.value, baseline: one.value, baselineName: 'one such process', ratio: two.value / one.value },
    ...(two.cpu && one.cpu && { cpu: { ours: two.cpu, baseline: one.cpu } }),
  };
}
