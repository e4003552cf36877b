import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { followMove, removeReachableFolder } from './reachable-folder.ts';
import { workspaceRoot } from './workspace-root.ts';

/** The folder of the data of `npm start`, unless its `--data` names another one. */
export const defaultDataFolder = path.join(workspaceRoot, '.longwave');

/** The folders and files of one installation. */
export interface DataFolder {
  readonly root: string;
  readonly logs: string;
  readonly pids: string;
  readonly postgres: string;
  readonly logFile: (name: string) => string;
  readonly inside: (name: string) => string;
  /** Keys and secrets. */
  readonly secrets: string;
  /** Certificates of the services, and their authority. */
  readonly tls: string;
  /** The secrets that a service reads again when they change, as variables; made at each start. */
  readonly loginsFile: (service: string) => string;
  /** The keys that the object store accepts; made at each start. */
  readonly objectStoreKeys: string;
}

export function dataFolder(root: string): DataFolder {
  const inside = (name: string) => path.join(root, name);
  const logs = inside('logs');
  return {
    root,
    logs,
    pids: inside('pids'),
    postgres: inside('postgres'),
    logFile: (name) => path.join(logs, `${name}.log`),
    inside,
    secrets: inside('secrets'),
    tls: inside('tls'),
    loginsFile: (service) => path.join(inside('logins'), `${service}.json`),
    objectStoreKeys: path.join(inside('logins'), 'object-store-keys.json'),
  };
}

/** A data folder under the system's temporary folder, or another one, to be thrown away. */
export function temporaryDataFolder(parent: string = tmpdir()): DataFolder {
  const root = mkdtempSync(path.join(parent, 'longwave-'));
  // Others may pass through (PostgreSQL's user must), not look inside.
  chmodSync(root, 0o711);
  return dataFolder(root);
}

/** Deletes an installation's data, wherever its database lies. */
export function removeDataFolder(folder: DataFolder): void {
  removeReachableFolder(folder.postgres);
  rmSync(folder.root, { recursive: true, force: true });
}

/** Moves an installation that does not run, with its database, to another path of the same disk, where nothing or an empty folder is. */
export function moveDataFolder(folder: DataFolder, target: string): void {
  renameSync(folder.root, target);
  followMove(dataFolder(target).postgres);
}
