import { existsSync, statfsSync } from 'node:fs';
import path from 'node:path';

/** Raised before anything is started. */
export class NotEnoughRoom extends Error {
  constructor(folder: string, freeBytes: number, neededBytes: number) {
    const megabytes = (bytes: number) => `${Math.floor(bytes / 1024 ** 2)} MB`;
    super(
      `${folder} has ${megabytes(freeBytes)} of free disk space, and Longwave needs ${megabytes(neededBytes)} to start. Free some space, or choose a folder on another disk.`,
    );
    this.name = 'NotEnoughRoom';
  }
}

/** A first start and its sample take 75 MB, most of it PostgreSQL's; its write-ahead log soon grows by as much again. */
export const roomNeededBytes = { first: 256 * 1024 ** 2, later: 64 * 1024 ** 2 } as const;

/** Throws `NotEnoughRoom` when the disk of a folder, made or still to be made, has less than that free for this user. */
export function assertRoom(folder: string, neededBytes: number): void {
  let made = folder;
  while (!existsSync(made)) made = path.dirname(made);
  const { bavail, bsize } = statfsSync(made);
  if (bavail * bsize < neededBytes) throw new NotEnoughRoom(folder, bavail * bsize, neededBytes);
}
