/** `longwave status`: whether an installation is well, and what is not. */
import type { FleetAccess } from '@longwave/fleet/running';
import { allWell, checksJson, renderChecks, type Check } from '../checks/check.ts';
import { checkDisk } from '../checks/check-disk.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed } from '../command.ts';
import { dataFolderOfTool, fleetOn } from '../find-fleet.ts';
import { positiveNumber } from '../positive-number.ts';
import { checkBackup } from './check-backup.ts';
import { checkCertificates } from './check-certificates.ts';
import { checkDeadLetters } from './check-dead-letters.ts';
import { checkEngines } from './check-engines.ts';
import { checkLags, followersOf } from './check-lags.ts';
import { checkServices, readSamples } from './check-services.ts';

const usage = `${typed} status [--max-backup-age HOURS] [--json] [--data FOLDER]

Shows whether the running service is well: services, engines, what waits (events, messages, jobs, facts), dead letters, disk,
certificates and the last backup. Each line begins with ✓ or ✗; below what is wrong stands what to do.

  --max-backup-age HOURS  optional: a last backup that is older than this, or none, is not well
  --json                  optional: print one JSON document
  --data FOLDER           optional: data folder of the service (default: .longwave)

Exit code: 0 when all is well, 1 when something is not, 2 when the command line is wrong.

Example:
  ${typed} status --max-backup-age 26`;

async function checkRunning(fleet: FleetAccess): Promise<readonly Check[]> {
  const [services, engines, samples] = await Promise.all([
    checkServices(fleet),
    checkEngines(fleet),
    readSamples(fleet),
  ]);
  return [...services, ...engines, ...checkLags(samples), ...(await checkDeadLetters(fleet, followersOf(samples)))];
}

const stopped: Check = {
  part: 'services',
  name: 'all',
  well: false,
  says: 'no service runs on this data folder',
  advice: 'Start it with npm start, or name another data folder with --data.',
};

await runOperations(
  { usage, options: { 'max-backup-age': { type: 'string' }, json: { type: 'boolean' } } },
  async ({ 'max-backup-age': maxAge, json }, words) => {
    assertNoWords(words);
    const maxAgeHours = positiveNumber('max-backup-age', maxAge);
    const folder = dataFolderOfTool();
    const fleet = fleetOn(folder);
    const now = new Date();
    const disks = [checkDisk('data', folder)];
    if (fleet && !fleet.databaseFolder.startsWith(folder)) disks.push(checkDisk('database', fleet.databaseFolder));
    const checks: readonly Check[] = [
      ...(fleet ? await checkRunning(fleet) : [stopped]),
      ...disks,
      ...(await checkCertificates(`${folder}/tls`, Object.values(fleet?.urls ?? {}), now)),
      checkBackup(folder, now, maxAgeHours),
    ];
    console.log(json ? checksJson(checks, { data_folder: folder, at: now.toISOString() }) : renderChecks(checks));
    // An engine that gives no answer would keep this process waiting.
    process.exit(allWell(checks) ? 0 : 1);
  },
);
