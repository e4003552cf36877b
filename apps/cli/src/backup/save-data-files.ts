import { createReadStream, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { writeDigested } from './digested-file.ts';
import type { BackupFile } from './manifest.ts';

/**
 * The files of a data folder that a backup holds beside the database and the objects: keys and secrets, facts that are not on the bus yet,
 * and whether the first trial run was made. Certificates are made anew; logs, caches and mails are not part of a backup.
 */
const kept = ['secrets', 'delivery-journal', 'first-job.json'] as const;

/** The part of a backup with these files. */
export const dataPart = 'data';

/** Whether a backup holds a file of this path: one of the above, or below it. */
export function isKept(name: string): boolean {
  const [part, first, ...below] = name.split('/');
  return part === dataPart && kept.some((each) => each === first) && !below.some((step) => step === '..');
}

/** Every file below a path of a folder, relative to it. */
async function filesBelow(root: string, relative: string): Promise<readonly string[]> {
  const at = path.join(root, relative);
  if (!existsSync(at)) return [];
  const entries = await readdir(at).catch(() => undefined);
  if (!entries) return [relative];
  const names = entries.filter((name) => !name.endsWith('.new'));
  const below = await Promise.all(names.map((name) => filesBelow(root, path.join(relative, name))));
  return below.flat();
}

/** Copies the kept files of a data folder into a backup, below `data/`. */
export async function saveDataFiles(dataFolder: string, backup: string): Promise<readonly BackupFile[]> {
  const names = (await Promise.all(kept.map((name) => filesBelow(dataFolder, name)))).flat();
  const saved: BackupFile[] = [];
  for (const name of names) {
    const target = path.join(dataPart, name);
    const source = createReadStream(path.join(dataFolder, name));
    saved.push({ path: target, ...(await writeDigested(source, path.join(backup, target))) });
  }
  return saved;
}
