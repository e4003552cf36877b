import { readFileSync } from 'node:fs';
import path from 'node:path';
import { writePrivately } from '@longwave/fleet/running';
import { z } from 'zod';

const lastBackupSchema = z.strictObject({
  /** Absolute path of the backup's own folder. */
  folder: z.string(),
  /** The moment of the database's snapshot. */
  snapshot_at: z.iso.datetime(),
});
export type LastBackup = Readonly<z.output<typeof lastBackupSchema>>;

const fileOf = (dataFolder: string) => path.join(dataFolder, 'last-backup.json');

/** The last finished backup, as the data folder notes it; undefined before the first. */
export function readLastBackup(dataFolder: string): LastBackup | undefined {
  try {
    return lastBackupSchema.parse(JSON.parse(readFileSync(fileOf(dataFolder), 'utf8')));
  } catch {
    return undefined;
  }
}

export const noteLastBackup = (dataFolder: string, last: LastBackup): void =>
  writePrivately(fileOf(dataFolder), `${JSON.stringify(last, null, 2)}\n`);
