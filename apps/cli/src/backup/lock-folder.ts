import path from 'node:path';
import { lockFile } from '@longwave/fleet/running';

/** Makes this process the only one that writes into a folder of backups. Throws a sentence for the operator while another does. */
export const lockFolder = (folder: string): Disposable => lock(folder, 'backup.lock', `A backup into ${folder}`);

/**
 * Makes this process the only one that relies on the objects of an installation to stay, or removes some. Throws a sentence for the operator
 * while another does.
 */
export const lockObjects = (dataFolder: string): Disposable =>
  lock(dataFolder, 'objects.lock', `A backup or a sweep of ${dataFolder}`);

/** @param work what holds the lock, the beginning of a sentence */
function lock(folder: string, name: string, work: string): Disposable {
  const release = lockFile(
    path.join(folder, name),
    ({ pid }) => new Error(`${work} is under way (process ${pid}). Wait for its end.`),
  );
  return { [Symbol.dispose]: release };
}
