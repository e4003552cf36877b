import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TrackDescribed } from '@longwave/events';

/** Descriptions of tracks of HLS, each in a file: one takes some 40 kB an hour, and facts may name many thousands. */
export interface TrackFolder {
  /** @param line the description as JSON */
  readonly add: (track: string, line: string) => void;
  readonly find: (track: string) => TrackDescribed | undefined;
}

/** Makes an empty one below a folder. */
export function createTrackFolder(folder: string): TrackFolder {
  const own = mkdtempSync(path.join(folder, 'tracks-'));
  // A file of facts may come from anybody: what it names is no file name.
  const fileOf = (track: string) => path.join(own, hash('sha256', track));
  return {
    add: (track, line) => writeFileSync(fileOf(track), line, { mode: 0o600 }),
    find: (track) => {
      const file = fileOf(track);
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as TrackDescribed) : undefined;
    },
  };
}
