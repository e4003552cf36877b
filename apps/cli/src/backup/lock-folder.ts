import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Makes this process the only one that writes into a folder of backups. Throws a sentence for the operator while another does. */
export const lockFolder = (folder: string): Disposable => lockFile(folder, 'backup.lock', `A backup into ${folder}`);

/**
 * Makes this process the only one that relies on the objects of an installation to stay, or removes some. Throws a sentence for the operator
 * while another does.
 */
export const lockObjects = (dataFolder: string): Disposable =>
  lockFile(dataFolder, 'objects.lock', `A backup or a sweep of ${dataFolder}`);

/** @param work what holds the lock, the beginning of a sentence */
function lockFile(folder: string, name: string, work: string): Disposable {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, name);
  for (let tries = 0; ; tries += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
      return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries > 2) throw error;
      const holder = Number(readFileSync(file, 'utf8'));
      if (holder > 0 && isRunning(holder))
        throw new Error(`${work} is under way (process ${holder}). Wait for its end.`, {
          cause: error,
        });
      rmSync(file, { force: true });
    }
  }
}
