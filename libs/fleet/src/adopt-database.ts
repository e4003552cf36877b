import path from 'node:path';
import { dataFolder, type DataFolder } from './data-folder.ts';
import { FleetIsRunning, findRunner } from './fleet-state.ts';
import { findOriginal, takeFolder } from './reachable-folder.ts';

/**
 * Makes a copy of a data folder the installation: it takes the database over, and the first folder, if it is still there, is the copy from
 * now on. Nothing happens to a folder that has its database already. Throws `FleetIsRunning` while the first one runs.
 */
export function adoptDatabase(data: DataFolder): void {
  const original = findOriginal(data.postgres);
  if (original === undefined) return;
  const first = path.dirname(original);
  const runner = findRunner(dataFolder(first));
  if (runner) throw new FleetIsRunning(runner.pid, first, first);
  takeFolder(data.postgres);
}
