import path from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { lockDataFolder, findRunner } from '../fleet-state.ts';
import { lockFile } from '../lock-file.ts';

/**
 * Lets one process at a time change the keys of an installation; while it is stopped, nobody starts it meanwhile. Throws in words while
 * another one does.
 */
export function lockKeys(data: DataFolder): Disposable {
  using locks = new DisposableStack();
  // A stopped installation is not started while its keys change.
  if (!findRunner(data)) locks.defer(lockDataFolder(data));
  const rotating = ({ pid }: { readonly pid: number }) =>
    new Error(`Another rotation is under way (process ${pid}). Try again when it has ended.`);
  locks.defer(lockFile(path.join(data.secrets, 'rotating.lock'), rotating));
  return locks.move();
}
