import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DataFolder } from './data-folder.ts';
import { readJson } from './read-json.ts';
import { workspaceRoot } from './workspace-root.ts';
import { writePrivately } from './write-privately.ts';

/** Raised before anything is started. */
export class NewerData extends Error {
  constructor(folder: string, newer: string, own: string) {
    super(
      `${folder} was used by Longwave ${newer}, and this is ${own}, which cannot read its data. ` +
        `Start version ${newer} or a newer one, or another data folder with: npm start -- --data FOLDER. ` +
        'To go back while it runs: npx longwave upgrade --back, in the folder of this version.',
    );
    this.name = 'NewerData';
  }
}

/** The release of this repository: "0.5.0". */
export const ownVersion = (): string =>
  (JSON.parse(readFileSync(path.join(workspaceRoot, 'package.json'), 'utf8')) as { readonly version: string }).version;

/** Numbers of a version that say what data looks like: a patch release changes neither tables nor files. */
const dataVersionOf = (version: string): readonly number[] => version.split('.').slice(0, 2).map(Number);

function isNewer(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [ownMajor = 0, ownMinor = 0]] = [dataVersionOf(version), dataVersionOf(than)];
  return major > ownMajor || (major === ownMajor && minor > ownMinor);
}

/** The release that last used a data folder; undefined where none has noted itself. */
export const dataVersion = (data: DataFolder): string | undefined =>
  readJson<{ readonly version: string }>(fileOf(data))?.version;

const fileOf = (data: DataFolder) => data.inside('version.json');

/** Notes that a release uses a data folder, whichever used it before. */
export const setDataVersion = (data: DataFolder, version: string): void =>
  writePrivately(fileOf(data), `${JSON.stringify({ version })}\n`);

/**
 * Notes in a data folder which release uses it. Throws `NewerData` when a newer one did: migrations are not taken back. A folder without
 * a note is older than the note.
 */
export function claimVersion(data: DataFolder, version = ownVersion()): void {
  const last = dataVersion(data);
  if (last !== undefined && isNewer(last, version)) throw new NewerData(data.root, last, version);
  if (last !== version) setDataVersion(data, version);
}
