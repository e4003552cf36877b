import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { DataFolder } from '@longwave/fleet';

/** A disk of its own under a folder of an installation. */
export interface Disk {
  /** Takes all of its room; answers how the room is given back. */
  readonly fill: () => () => void;
}

/** Whose disks can be filled. */
export const disks = ['postgres', 'encoder'] as const;
export type DiskName = (typeof disks)[number];

const bytesOf: Readonly<Record<DiskName, number>> = { postgres: 2 * 2 ** 30, encoder: 2 ** 30 };

function takeAll(folder: string): () => void {
  const file = path.join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  spawnSync('fallocate', ['-l', String(bavail * bsize), file]);
  // What others freed meanwhile, to the last page.
  const descriptor = openSync(file, 'a');
  try {
    for (;;) writeSync(descriptor, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
  return () => rmSync(file);
}

/** Puts folders of an installation that does not run on disks of their own, in memory. Needs Linux, as root; undefined elsewhere. */
export function openDisks(data: DataFolder): (Disposable & Readonly<Record<DiskName, Disk>>) | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const folders: Readonly<Record<DiskName, string>> = { postgres: data.postgres, encoder: data.inside('encoder') };
  const mounted: string[] = [];
  const unmount = () => {
    for (const folder of mounted.splice(0)) execFileSync('umount', ['--lazy', folder]);
  };
  for (const name of disks) {
    const folder = folders[name];
    const before = `${folder}.before`;
    mkdirSync(folder, { recursive: true });
    renameSync(folder, before);
    mkdirSync(folder);
    const done = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytesOf[name]},mode=0755`, 'longwave', folder]);
    if (done.status !== 0) {
      rmSync(folder, { recursive: true });
      renameSync(before, folder);
      unmount();
      return undefined;
    }
    mounted.push(folder);
    execFileSync('cp', ['-a', `${before}/.`, folder]);
    rmSync(before, { recursive: true });
  }
  const diskOf = (name: DiskName): Disk => ({ fill: () => takeAll(folders[name]) });
  return { postgres: diskOf('postgres'), encoder: diskOf('encoder'), [Symbol.dispose]: unmount };
}
