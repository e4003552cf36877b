import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isUnfinished } from './digested-file.ts';
import { backupsFolder, isBackupName, listBackups, objectsFolder } from './manifest.ts';

/** Makes a folder where there is none. Throws for a symbolic link, because it may lead to a folder of another user. */
function ownFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (lstatSync(folder).isSymbolicLink())
    throw new Error(`${folder} is a symbolic link. Put a folder in its place, or name another folder for the backups.`);
  return folder;
}

/**
 * Makes the parts of a folder of backups, and removes what interrupted backups left there: those without a manifest, and files that were
 * not written to their end. Whatever has no name that a backup gives stays.
 */
export function removeUnfinished(folder: string): void {
  const finished = new Set(listBackups(folder));
  const remove = (inside: string, isLeft: (name: string) => boolean) => {
    for (const name of readdirSync(inside).filter(isLeft)) rmSync(path.join(inside, name), { recursive: true });
  };
  const [backups, objects] = [backupsFolder(folder), objectsFolder(folder)].map(ownFolder);
  remove(backups!, (name) => isBackupName(name) && !finished.has(name));
  remove(objects!, isUnfinished);
}
