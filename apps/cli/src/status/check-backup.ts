import type { Check } from '../checks/check.ts';
import { describeSeconds } from '../checks/sizes.ts';
import { readLastBackup } from '../backup/last-backup.ts';

/** The last backup of a data folder; it is well however old it is, unless somebody says how old it may be. */
export function checkBackup(dataFolder: string, now: Date, maxAgeHours: number | undefined): Check {
  const last = readLastBackup(dataFolder);
  const seconds = last && (now.getTime() - new Date(last.snapshot_at).getTime()) / 1_000;
  const well = maxAgeHours === undefined || (seconds !== undefined && seconds <= maxAgeHours * 3_600);
  return {
    part: 'backup',
    name: 'last',
    well,
    says: last ? `${describeSeconds(seconds!)} ago, in ${last.folder}` : 'never',
    ...(!well && { advice: 'npx longwave backup FOLDER makes one.' }),
    ...(seconds !== undefined && { value: Math.round(seconds), unit: 'seconds' }),
  };
}
