import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TrackDescribed } from '@longwave/events';

/** Descriptions of tracks of HLS, each part in a file: one track takes some 40 kB an hour, and facts may name many thousands. */
export interface TrackFolder {
  /** @param line the description as JSON */
  readonly add: (described: TrackDescribed, line: string) => void;
  /** The parts of a track up to the first that is missing. */
  readonly find: (track: string) => TrackDescribed[];
}

/** Makes an empty one below a folder. */
export function createTrackFolder(folder: string): TrackFolder {
  const own = mkdtempSync(path.join(folder, 'tracks-'));
  // A file of facts may come from anybody: what it names is no file name.
  const fileOf = (track: string, part: number) => path.join(own, hash('sha256', `${part} ${track}`));
  return {
    add: ({ track, part }, line) => writeFileSync(fileOf(track, part), line, { mode: 0o600 }),
    find: (track) => {
      const found: TrackDescribed[] = [];
      for (let file = fileOf(track, 0); existsSync(file); file = fileOf(track, found.length))
        found.push(JSON.parse(readFileSync(file, 'utf8')) as TrackDescribed);
      return found;
    },
  };
}
