import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  dataFolder,
  findRunningFleet,
  removeDataFolder,
  startFleet,
  temporaryDataFolder,
  defaultDataFolder,
  workspaceRoot,
  PortTaken,
  type DataFolder,
  type FleetAccess,
  type PublicPorts,
} from '@longwave/fleet';
import { runJob } from './job.ts';
import type { JobResult } from './job-result.ts';
import type { Account } from '@longwave/test-kit/clients';
import { dataOptionOf, describeAccount } from './next-steps.ts';
import { defaultPortBase, parsePortBase } from './ports.ts';
import { createReport, type Report } from './report.ts';
import { samples } from './samples.ts';
import { stopRequested } from './stop-signal.ts';

interface Options {
  readonly audio: string;
  readonly ad: string;
  readonly hls: boolean;
  readonly fresh: boolean;
  readonly json: boolean;
  readonly ports: PublicPorts;
  readonly data: DataFolder;
}

/** Relative paths are relative to where npm was called. */
function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      audio: { type: 'string' },
      ad: { type: 'string' },
      hls: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      'port-base': { type: 'string', default: defaultPortBase },
      data: { type: 'string', default: defaultDataFolder },
    },
  });
  if (values.audio === undefined) throw new Error('Name the audio file: npm run demo -- --audio FILE');
  const callers = process.env['INIT_CWD'] ?? process.cwd();
  const [audio = '', ad = samples.ad] = [values.audio, values.ad].map((file) =>
    file === undefined ? undefined : path.resolve(callers, file),
  );
  for (const file of [audio, ad]) if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  const ports = parsePortBase(values['port-base']);
  const data = dataFolder(path.resolve(workspaceRoot, values.data));
  return { audio, ad, hls: values.hls, fresh: values.fresh, json: values.json, ports, data };
}

/** The fleet to run on: an own one for `--fresh`, else the running one, else one on the data of `npm start`. */
async function openFleet(
  { fresh, ports, data: kept }: Options,
  report: Report,
  stack: AsyncDisposableStack,
): Promise<FleetAccess> {
  const running = fresh ? undefined : findRunningFleet(kept);
  if (running) {
    report.note(`Using the running service at ${running.urls.base}\n`);
    return running;
  }
  const data = fresh ? temporaryDataFolder() : kept;
  if (fresh) stack.defer(() => removeDataFolder(data));
  const onProgress = (part: string, durationMs: number) => report.done(part, durationMs, 'ready');
  const fleet = stack.use(await startFleet({ dataFolder: data.root, ports: fresh ? 'free' : ports, onProgress }));
  report.note('');
  return fleet;
}

async function demo(options: Options, report: Report): Promise<JobResult> {
  const { audio, ad, hls } = options;
  const stopping = stopRequested();
  await using stack = new AsyncDisposableStack();
  const fleet = await openFleet(options, report, stack);
  const stopped = stopping.then((reason): JobResult => {
    report.note(`\nStopped by ${reason}.`);
    return { ok: false, steps: [] };
  });
  const onAccount = (account: Account) => void (made = account);
  const job = runJob({ fleet, audio, ad, hls, artwork: samples.artwork, report, onAccount });
  return await Promise.race([job, stopped]);
}

function printResult(result: JobResult, report: Report): void {
  const failed = result.steps.filter(({ ok }) => !ok).map(({ name }) => name);
  report.note(
    result.ok
      ? `\nEvery step passed.\n\n  feed   ${result.feed_url}\n  audio  ${result.enclosure_url}${result.hls ? `\n  hls    ${result.hls.entry_url}` : ''}`
      : `\nThe trial run failed${failed.length ? `: ${failed.join(', ')}` : ''}.`,
  );
}

/** The account of the job, as soon as there is one. */
let made: Account | undefined;
let options: Options;
try {
  options = readOptions();
} catch (error) {
  console.error(`${(error as Error).message}\nnpm run demo -- --help explains the options.`);
  process.exit(2);
}
const stream = options.json ? process.stderr : process.stdout;
const report = createReport({ stream, now: () => performance.now() });
let result: JobResult = { ok: false, steps: [] };
try {
  result = await demo(options, report);
  printResult(result, report);
  // An installation that was made for the demo is gone by now, and its keys with it.
  if (made && !options.fresh) {
    const dataOption = dataOptionOf(options.data.root);
    report.note(describeAccount(made, { isTerminal: stream.isTTY, dataOption }));
  }
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof PortTaken) console.error('Choose others with --port-base N, or use --fresh.');
}
if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(result.ok ? 0 : 1);
