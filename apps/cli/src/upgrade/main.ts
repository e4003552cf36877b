/** `longwave upgrade`: takes a running installation over to the release of this folder, or back to it. */
import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertReleaseFits,
  assertRoom,
  dataFolder,
  dataVersion,
  deployMigrations,
  openSecrets,
  ownApps,
  ownVersion,
  readReleases,
  roomNeededBytes,
  setDataVersion,
  workspaceRoot,
  type DataFolder,
  type FleetAccess,
} from '@longwave/fleet';
import { findRunner } from '@longwave/fleet/running';
import { services } from '@longwave/services';
import { readLastBackup } from '../backup/last-backup.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed } from '../command.ts';
import { dataFolderOfTool, fleetOn } from '../find-fleet.ts';
import { positiveNumber } from '../positive-number.ts';
import { assertUnitRunsHere } from './assert-unit-runs-here.ts';
import { planStep } from './plan-step.ts';
import { refuseOtherAddresses } from './refuse-other-addresses.ts';
import { findWayBack } from './way-back.ts';

const usage = `${typed} upgrade [--max-backup-age HOURS | --without-backup] [--back] [--check] [--unit NAME]
                [--json] [--data FOLDER] [-- OPTIONS]

Takes the running service over to the release of the folder in which it is typed: it checks whether the step may be made, runs the migrations
while the release before goes on to work, stops that one and starts this one in its place. The service is away for the seconds between.
When a check fails, nothing was changed.

  --max-backup-age HOURS  optional: the last backup may be so old (default: 24)
  --without-backup        optional: go without a backup
  --back                  optional: go back to this older release; refused when a newer one took away what this one uses
  --check                 optional: make the checks alone
  --unit NAME             optional: restart this unit of systemd, which runs the service from this folder, instead of starting it here
  --json                  optional: print one JSON document, when the release runs or the checks are made
  --data FOLDER           optional: data folder of the service, absolute when the folder before was another one (default: .longwave)
  -- OPTIONS              optional: options of npm start, as the running service has them (not with --unit): other public addresses are refused

Exit code: 0 when it was done (and the service, started here, has ended well), 1 when it was refused or failed, 2 when the command line is wrong.

Examples:
  ${typed} upgrade --data /srv/longwave -- --config /etc/longwave/longwave.yaml
  ${typed} upgrade --data /srv/longwave --unit longwave`;

const maxStopMs = 120_000;
const maxStartMs = 300_000;

const releases = () => readReleases().map(({ version }) => version);

function assertBackup(folder: string, maxAgeHours: number): void {
  const last = readLastBackup(folder);
  const hours = last && (Date.now() - Date.parse(last.snapshot_at)) / 3_600_000;
  if (hours !== undefined && hours <= maxAgeHours) return;
  const state = last ? `the last backup is ${Math.round(hours!)} hours old` : 'there is no backup';
  throw new Error(`${state}. Make one: ${typed} backup FOLDER. Or go without: --without-backup`);
}

const step = (text: string) => console.error(`  ${text}`);

async function until(check: () => boolean, maxMs: number): Promise<boolean> {
  const deadline = performance.now() + maxMs;
  while (performance.now() < deadline) {
    if (check()) return true;
    await sleep(200);
  }
  return check();
}

/** Stops the service by its own orderly way. Throws when it does not end. */
async function stop(data: DataFolder): Promise<void> {
  const runner = findRunner(data);
  if (!runner) return;
  process.kill(runner.pid, 'SIGINT');
  if (!(await until(() => !findRunner(data), maxStopMs)))
    throw new Error(
      `Process ${runner.pid} does not end. The migrations are applied, and the release before runs on. End it and try again.`,
    );
}

/**
 * Starts this release here and waits until every service is ready. Answers its process.
 * @param keepsOutput what it prints goes to standard error, because a document goes to standard output
 */
async function start(folder: string, options: readonly string[], { keepsOutput }: { readonly keepsOutput: boolean }) {
  const line = [path.join(workspaceRoot, 'deploy/local/launch.mjs'), 'start', ...options, '--data', folder];
  const child = spawn(process.execPath, line, {
    cwd: workspaceRoot,
    stdio: ['inherit', keepsOutput ? 2 : 'inherit', 'inherit'],
  });
  let code: number | null | undefined;
  const ended = new Promise<number>((resolve) => child.once('exit', (exit) => resolve((code = exit) ?? 1)));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const isReady = await until(() => fleetOn(folder) !== undefined || code !== undefined, maxStartMs);
  return { isReady: isReady && code === undefined, ended };
}

const failed = (from: string | undefined) =>
  `This release did not start. Read why: ${typed} logs --level warn. The release before${from === undefined ? '' : `, ${from},`} works on the ` +
  'database as it is now: in its folder, npx longwave upgrade --back if this one noted itself, else npm start. One up to 0.7.0 gives no goals while ' +
  'these are given by leases: docs/pacing.md, “The way back”.';

/** The release of the data folder that runs, and whether it may become this one. Throws in words. */
async function assertMayGo(
  data: DataFolder,
  access: FleetAccess,
  { goesBack, maxAgeHours }: { readonly goesBack: boolean; readonly maxAgeHours: number | undefined },
) {
  const from = dataVersion(data);
  const plan = planStep(from, ownVersion(), releases(), { goesBack });
  if (plan.kind === 'refused') {
    const wayBack = goesBack ? await findWayBack(access.databaseUrls['serving']!) : undefined;
    throw new Error(wayBack === undefined ? plan.because : `${plan.because} ${wayBack}`);
  }
  await assertReleaseFits(access.adminDatabaseUrl, ownApps);
  if (maxAgeHours !== undefined) assertBackup(data.root, maxAgeHours);
  assertRoom(data.root, roomNeededBytes.later);
  return from;
}

await runOperations(
  {
    usage,
    options: {
      'max-backup-age': { type: 'string' },
      'without-backup': { type: 'boolean' },
      back: { type: 'boolean' },
      check: { type: 'boolean' },
      unit: { type: 'string' },
      json: { type: 'boolean' },
    },
  },
  async (values, options) => {
    if (values.unit !== undefined) {
      assertNoWords(options);
      assertUnitRunsHere(values.unit);
    }
    const data = dataFolder(dataFolderOfTool());
    const access = fleetOn(data.root);
    if (!access)
      throw new Error(
        'No service runs on this data folder. npm start of this release migrates its data and starts it; name another folder with --data.',
      );
    // A unit has its own options, and the checks alone need none.
    const hasOptions = values.unit === undefined && (!values.check || options.length > 0);
    if (hasOptions) refuseOtherAddresses(options, access.urls);
    const maxAgeHours = values['without-backup']
      ? undefined
      : (positiveNumber('max-backup-age', values['max-backup-age']) ?? 24);
    const from = await assertMayGo(data, access, { goesBack: values.back === true, maxAgeHours });
    step(`✓ from ${from ?? 'an earlier release'} to ${ownVersion()}: the step, the backup and the disk are in order`);
    const tell = (isDone: boolean) => {
      if (values.json)
        console.log(
          JSON.stringify({ data_folder: data.root, from: from ?? null, to: ownVersion(), done: isDone }, null, 2),
        );
    };
    if (values.check) {
      tell(false);
      return 0;
    }
    if (!values.back) {
      await deployMigrations(access.adminDatabaseUrl, openSecrets(data.secrets, services).rolePassword, ownApps);
      step('✓ migrations; the release before goes on');
    }
    const goBack = () => values.back && setDataVersion(data, ownVersion());
    if (values.unit !== undefined) {
      goBack();
      execFileSync('systemctl', ['restart', values.unit], { stdio: 'inherit' });
      if (!(await until(() => fleetOn(data.root) !== undefined, maxStartMs))) throw new Error(failed(from));
      step(`✓ ${ownVersion()} runs`);
      tell(true);
      return 0;
    }
    await stop(data);
    goBack();
    step('✓ stopped');
    const { isReady, ended } = await start(data.root, options, { keepsOutput: values.json === true });
    if (!isReady) throw new Error(failed(from));
    step(`✓ ${ownVersion()} runs`);
    tell(true);
    return ended;
  },
);
