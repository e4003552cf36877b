/** `npm run fleet`: the services in the shape of a cluster, on this machine, to look at or under the acceptance and fault suites. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { removeDataFolder, startFleet, temporaryDataFolder, workspaceRoot } from '@longwave/fleet';
import { clusterProfile, outsideEngines } from './cluster-profile.ts';
import { describeEvent } from './describe-event.ts';
import { dataOptionOf, describeRunning, isConsoleBuilt } from './next-steps.ts';
import { createReport, type Report } from './report.ts';
import { stopRequested } from './stop-signal.ts';

interface FleetArguments {
  /** Words of the names of test files; undefined: no tests. */
  readonly tests: readonly string[] | undefined;
}

/** Throws for a wrong command line. */
function readArguments(): FleetArguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { profile: { type: 'string' }, test: { type: 'boolean', default: false } },
  });
  if (values.profile !== 'cluster')
    throw new Error('Say --profile cluster. npm start starts the services of one machine.');
  if (!values.test && positionals.length > 0) throw new Error('Names are those of tests: --test NAME …');
  return { tests: values.test ? positionals : undefined };
}

/** Runs the acceptance and fault suites, or the files whose names have one of the words, on fleets of the cluster profile. */
function runTests(words: readonly string[]): Promise<number> {
  const suites = words.length > 0 ? words : ['acceptance/', 'faults/'];
  const child = spawn(process.execPath, [path.join(workspaceRoot, 'tools/jest.mjs'), ...suites], {
    cwd: path.join(workspaceRoot, 'tests'),
    env: { ...process.env, TEST_PROFILE: 'cluster' },
    stdio: 'inherit',
  });
  void stopRequested().then(() => child.kill('SIGTERM'));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

/** Runs a fleet on fresh data until somebody ends it. */
async function runFleet(report: Report): Promise<number> {
  const stopping = stopRequested();
  const profile = await clusterProfile(report.note, outsideEngines());
  const data = temporaryDataFolder();
  try {
    await using fleet = await startFleet({
      ...profile,
      dataFolder: data.root,
      ports: 'free',
      onProgress: (part, durationMs) => report.done(part, durationMs, 'ready'),
      onEvent: (event) => report.note(describeEvent(event)),
    });
    const mailFolder = path.join(fleet.dataFolder, 'mail');
    const hasConsole = isConsoleBuilt(path.join(profile.packages, 'rest-gateway'));
    report.note(describeRunning({ ...fleet, mailFolder, dataOption: dataOptionOf(fleet.dataFolder), hasConsole }));
    report.note(
      `\nKafka ${fleet.kafkaBrokers}, object store ${fleet.objectStore.endpoint}. The data is removed at the end.`,
    );
    await stopping;
    report.note('\nStopping …');
  } finally {
    removeDataFolder(data);
  }
  return 0;
}

let wanted: FleetArguments;
try {
  wanted = readArguments();
} catch (error) {
  console.error(`${(error as Error).message}\nnpm run fleet -- --help explains the options.`);
  process.exit(2);
}
const report = createReport({ stream: process.stdout, now: () => performance.now() });
try {
  process.exit(await (wanted.tests ? runTests(wanted.tests) : runFleet(report)));
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
