import { createReadStream, mkdirSync } from 'node:fs';
import path from 'node:path';
import { writeDigested } from '../backup/digested-file.ts';
import type { BackupFile } from '../backup/manifest.ts';
import { dataPart, isKept } from '../backup/save-data-files.ts';
import { irregularPart } from '../backup/verify-backup.ts';

/**
 * Copies the files that a manifest lists below `data/` into a new data folder, for its owner alone, and nothing else: whatever else is put
 * there is believed at the next start. Rejects at a file of another kind than a backup keeps, a link, and a file that was changed.
 * @param target the new data folder; must not exist
 */
export async function restoreDataFiles(backup: string, files: readonly BackupFile[], target: string): Promise<void> {
  const wanted = files.filter(({ path: name }) => name.startsWith(`${dataPart}/`));
  for (const { path: name } of wanted) {
    if (!isKept(name)) throw new Error(`The backup lists ${name}, which no backup holds. Nothing was restored.`);
    if (irregularPart(backup, name) !== undefined)
      throw new Error(`${name} is not a regular file. Nothing was restored.`);
  }
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const { path: name, sha256 } of wanted) {
    const source = createReadStream(path.join(backup, name));
    const written = await writeDigested(source, path.join(target, path.relative(dataPart, name)));
    if (written.sha256 !== sha256) throw new Error(`${name} was changed. Nothing was restored.`);
  }
}
