import { existsSync, statfsSync } from 'node:fs';
import path from 'node:path';
import type { Check } from './check.ts';
import { describeBytes } from './sizes.ts';

/** Redis and PostgreSQL stop writing on a full disk, so a disk is not well long before. */
const leastFreeBytes = 1024 ** 3;

/** The free space of the disk under a folder, made or still to be made. */
export function checkDisk(name: string, folder: string): Check {
  let made = folder;
  while (!existsSync(made)) made = path.dirname(made);
  const { bavail, blocks, bsize } = statfsSync(made);
  const free = bavail * bsize;
  const well = free >= leastFreeBytes;
  return {
    part: 'disk',
    name,
    well,
    says: `${describeBytes(free)} of ${describeBytes(blocks * bsize)} free  (${folder})`,
    ...(!well && {
      advice: `Free some space: below ${describeBytes(leastFreeBytes)} uploads and encodings soon fail.`,
    }),
    value: free,
    unit: 'bytes',
  };
}
