/**
 * `npm run last-release`: proves that the migrations of this checkout take nothing away that a former release uses. That release, from the
 * history, works while they are applied and makes a complete run behind them; then this checkout takes the installation over.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  countMissingMigrations,
  deployMigrations,
  findRunningFleet,
  freePort,
  isPortFree,
  openSecrets,
  ownApps,
  readReleases,
  removeDataFolder,
  temporaryDataFolder,
  workspaceRoot,
  type DataFolder,
  type FleetAccess,
  type Release,
} from '@longwave/fleet';
import { findRunner } from '@longwave/fleet/running';
import { services } from '@longwave/services';
import { sha256, until } from '@longwave/test-kit';
import { checkFeed, download, listenerAgentOf } from '@longwave/test-kit/clients';
import { z } from 'zod';
import { startGroup, type ProgramGroup } from './program-group.ts';
import { createReport } from './report.ts';
import { samples } from './samples.ts';
import { startSteadyLoad, type LoadResult } from './steady-load.ts';
import { stopRequested } from './stop-signal.ts';

/** Up to this release, a request may fail when a migration has added a column (docs/operate.md#upgrade). */
const lastToFailAtNewColumns = '0.6.0';
/** Before a release starts, its packages are installed and its bundles are made. */
const maxStartMs = 30 * 60_000;
const maxStopMs = 120_000;
/** So long the load goes on before and after the migrations. */
const aroundMs = 3_000;

const longwave = 'apps/cli/src/main.ts';

/** The part of `first-job.json` that this proof reads. Releases add members. */
const trialSchema = z.object({
  feed_url: z.url(),
  enclosure_url: z.url(),
  download: z.object({ sha256: z.string() }),
  analytics: z.object({ listeners: z.int() }),
});
type Trial = z.infer<typeof trialSchema>;

/** Throws for a wrong command line. */
function chooseRelease(): Release {
  const { values } = parseArgs({ options: { version: { type: 'string' } } });
  const releases = readReleases();
  const chosen =
    values.version === undefined ? releases.at(-1) : releases.find((one) => one.version === values.version);
  if (chosen) return chosen;
  const known = releases.map(({ version }) => version).join(', ');
  throw new Error(`There is no release “${values.version}”; docs/releases.json has ${known}.`);
}

function mayFail({ version }: Release): boolean {
  const versions = readReleases().map((release) => release.version);
  return versions.indexOf(version) <= versions.indexOf(lastToFailAtNewColumns);
}

/** Takes the files of a release out of the history. Throws in words where it is not there. */
function cloneRelease({ version, commit }: Release, folder: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: workspaceRoot, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const tryGit = (...args: readonly string[]) => {
    try {
      return git(...args);
    } catch {
      return undefined;
    }
  };
  if (tryGit('rev-parse', '--is-shallow-repository') !== 'false')
    throw new Error('this folder has no whole history to take it from. In a shallow clone type: git fetch --unshallow');
  if (tryGit('cat-file', '-e', `${commit}^{commit}`) === undefined)
    throw new Error(`commit ${commit} of ${version} is not in the history of this folder. Type: git fetch`);
  git('clone', '--quiet', '--shared', '--no-checkout', workspaceRoot, folder);
  git('-C', folder, 'checkout', '--quiet', '--detach', commit);
}

/** The first of five neighbouring free ports. */
async function freePortBase(): Promise<string> {
  for (;;) {
    const base = await freePort();
    const others = await Promise.all([1, 2, 3, 4].map((next) => isPortFree(base + next)));
    if (others.every(Boolean)) return String(base);
  }
}

/** As `longwave upgrade` does it. */
async function migrate(data: DataFolder, { adminDatabaseUrl }: FleetAccess): Promise<string> {
  const missing = await countMissingMigrations(adminDatabaseUrl, ownApps);
  await deployMigrations(adminDatabaseUrl, openSecrets(data.secrets, services).rolePassword, ownApps);
  return missing === 1 ? '1 migration' : `${missing} migrations`;
}

/** Throws when a request failed that should not have. */
function judge({ asked, failures }: LoadResult, release: Release): string {
  const text = [`${asked} requests, ${failures.length} failed`, ...new Set(failures)].join('; ');
  if (failures.length === 0) return text;
  if (!mayFail(release)) throw new Error(text);
  return `${text} (known of ${lastToFailAtNewColumns} and earlier: docs/operate.md#upgrade)`;
}

/** The feed of the trial run is whole, and its last listener is given the same bytes again. */
async function compareTrial(trial: Trial): Promise<string> {
  if (!(await checkFeed(trial.feed_url))) throw new Error('the feed has no episode');
  const { bytes } = await download(trial.enclosure_url, listenerAgentOf(trial.analytics.listeners - 1));
  if (sha256(bytes) !== trial.download.sha256) throw new Error('the file that a listener was given is another one');
  return 'the feed is whole, and a listener is given the same file again';
}

/** The steps. Without colours none is overwritten, because lines of programs come between. */
const report = createReport({ stream: process.stdout, now: () => performance.now(), env: { NO_COLOR: '1' } });
/** Prints a line about the work under way, or a line of a program. */
const progress = (line: string) => console.error(`  ${line}`);

/** What was started and may still run. */
const groups: ProgramGroup[] = [];
let stoppedBy: string | undefined;

/** Takes a step and shows how it ended. Rejects when it failed, or when somebody wants this process to end. */
async function step(name: string, run: () => Promise<string> | string): Promise<void> {
  progress(`${name} …`);
  await report.step(name, async () => {
    try {
      if (stoppedBy === undefined) return await run();
    } catch (error) {
      if (stoppedBy === undefined) throw error;
    }
    throw new Error(`stopped by ${stoppedBy}`);
  });
}

/** Starts a program whose lines are shown. */
function start(cwd: string, command: string, ...args: readonly string[]): ProgramGroup {
  const group = startGroup(command, args, { cwd, onLine: (line) => void (line && progress(`  ${line}`)) });
  groups.push(group);
  return group;
}

/** Shows why something failed: the logs go with the data. */
const showErrors = (data: DataFolder): Promise<number> =>
  start(workspaceRoot, process.execPath, longwave, 'logs', '--level', 'error', '--lines', '20', '--data', data.root)
    .ended;

/** Waits for what a program brings about. Rejects when the program ends before. */
const awaitFrom = <T>(group: ProgramGroup, what: string, ask: () => T | undefined) =>
  until(
    what,
    () => {
      if (!group.isRunning()) throw new Error('its process ended; its last lines say why');
      return ask();
    },
    { timeoutMs: maxStartMs },
  );

/** The complete run of the release in a folder, on what runs. */
async function completeRun(folder: string, data: DataFolder): Promise<string> {
  const code = await start(folder, 'npm', 'run', 'demo', '--', '--audio', samples.audio, '--data', data.root).ended;
  if (code !== 0) throw new Error(`exit code ${code}`);
  return 'every step passed';
}

interface Subject {
  readonly access: FleetAccess;
  readonly trial: Trial;
}

/** Starts the release in a folder as its README says, and waits for its trial run. */
async function startFormer(folder: string, data: DataFolder, portBase: string): Promise<Subject> {
  const group = start(folder, 'npm', 'start', '--', '--data', data.root, '--port-base', portBase);
  return awaitFrom(group, 'the trial run', () => {
    const access = findRunningFleet(data);
    const file = data.inside('first-job.json');
    // It is not written at once.
    const text = access && existsSync(file) ? readFileSync(file, 'utf8') : '';
    return access && text.endsWith('}\n') ? { access, trial: trialSchema.parse(JSON.parse(text)) } : undefined;
  });
}

/** Applies the migrations of this checkout under load. Answers whether no request failed that should not have. */
async function migrateUnderLoad({ access, trial }: Subject, data: DataFolder, release: Release): Promise<boolean> {
  let load!: Awaited<ReturnType<typeof startSteadyLoad>>;
  await step('steady load', async () => {
    load = await startSteadyLoad(access, { feedUrl: trial.feed_url, enclosureUrl: trial.enclosure_url });
    return 'a request every 50 ms';
  });
  await sleep(aroundMs);
  await step('migrations of this checkout', () => migrate(data, access));
  await sleep(aroundMs);
  const result = await load.end();
  if (result.failures.length > 0) await showErrors(data);
  return step('requests meanwhile', () => judge(result, release)).then(
    () => true,
    () => false,
  );
}

/** Puts this checkout in the place of what runs. */
async function upgrade(data: DataFolder, portBase: string): Promise<string> {
  const before = findRunner(data)?.pid;
  const options = ['--without-backup', '--data', data.root, '--', '--port-base', portBase];
  const group = start(workspaceRoot, process.execPath, longwave, 'upgrade', ...options);
  await awaitFrom(group, 'the start', () => findRunner(data)?.pid !== before && findRunningFleet(data));
  return 'ready';
}

/** Rejects at the first step that fails; answers whether requests were answered during the migrations. */
async function prove(release: Release, folder: string, data: DataFolder): Promise<boolean> {
  const { version, commit } = release;
  const portBase = await freePortBase();
  let subject!: Subject;
  await step(`${version} from the history`, () => {
    cloneRelease(release, folder);
    return `commit ${commit.slice(0, 8)}`;
  });
  await step(`${version} installed and started`, async () => {
    subject = await startFormer(folder, data, portBase);
    return 'ready, and its trial run passed';
  });
  const answered = await migrateUnderLoad(subject, data, release);
  await step(`complete run of ${version}`, () => completeRun(folder, data));
  await step('longwave upgrade', () => upgrade(data, portBase));
  await step(`what ${version} stored`, () => compareTrial(subject.trial));
  await step('complete run of this checkout', () => completeRun(workspaceRoot, data));
  return answered;
}

/** Ends what still runs, in its orderly way. */
async function endAll(data: DataFolder): Promise<void> {
  for (const group of groups) if (group.isRunning()) group.signal('SIGTERM');
  await Promise.all(groups.map(({ ended }) => ended));
  await until('the end of the service', () => findRunner(data) === undefined, { timeoutMs: maxStopMs });
}

async function main(release: Release): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), `longwave-${release.version}-`));
  const data = temporaryDataFolder();
  process.once('exit', () => {
    // After a second Ctrl-C too.
    for (const group of groups) group.signal('SIGKILL');
    removeDataFolder(data);
    rmSync(folder, { recursive: true, force: true });
  });
  void stopRequested().then((reason) => {
    stoppedBy = reason;
    for (const group of groups) group.signal('SIGTERM');
  });
  let fault: string | undefined;
  try {
    const answered = await prove(release, folder, data);
    if (!answered) fault = 'requests failed during the migrations';
  } catch (error) {
    fault = (error as Error).message;
    if (stoppedBy === undefined) await showErrors(data);
  }
  await endAll(data);
  report.note(
    fault === undefined
      ? `\nEverything held: ${release.version} works on the schema of this checkout.`
      : `\nNot proven: ${fault}.`,
  );
  return fault === undefined ? 0 : 1;
}

let release: Release;
try {
  release = chooseRelease();
} catch (error) {
  console.error(`${(error as Error).message}\nnpm run last-release -- --help explains the options.`);
  process.exit(2);
}
process.exit(await main(release));
