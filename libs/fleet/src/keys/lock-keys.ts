import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { lockDataFolder, findRunner } from '../fleet-state.ts';
import { findProcess, isAlive, type ProcessIdentity } from '../process-identity.ts';

/**
 * Lets one process at a time change the keys of an installation; while it is stopped, nobody starts it meanwhile. Throws in words while
 * another one does.
 */
export function lockKeys(data: DataFolder): Disposable {
  // A stopped installation is not started while its keys change.
  const unlockFolder = findRunner(data) ? undefined : lockDataFolder(data);
  const file = path.join(data.secrets, 'rotating.lock');
  mkdirSync(data.secrets, { recursive: true, mode: 0o700 });
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
    if (isAlive(holder))
      throw new Error(`Another rotation is under way (process ${holder.pid}). Try again when it has ended.`);
    rmSync(file, { force: true });
  } catch (error) {
    if (!(error instanceof SyntaxError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') {
      unlockFolder?.();
      throw error;
    }
  }
  writeFileSync(file, JSON.stringify(findProcess(process.pid)), { flag: 'wx', mode: 0o600 });
  return {
    [Symbol.dispose]: () => {
      rmSync(file, { force: true });
      unlockFolder?.();
    },
  };
}
