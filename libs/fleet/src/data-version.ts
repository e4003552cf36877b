import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DataFolder } from './data-folder.ts';
import { workspaceRoot } from './workspace-root.ts';

/** Raised before anything is started. */
export class NewerData extends Error {
  constructor(folder: string, newer: string, own: string) {
    super(
      `${folder} was used by Longwave ${newer}, and this is ${own}, which cannot read its data. ` +
        `Start version ${newer} or a newer one, or another data folder with: npm start -- --data FOLDER`,
    );
    this.name = 'NewerData';
  }
}

/** The release of this repository: "0.5.0". */
const ownVersion = (): string =>
  (JSON.parse(readFileSync(path.join(workspaceRoot, 'package.json'), 'utf8')) as { readonly version: string }).version;

/** Numbers of a version that say what data looks like: a patch release changes neither tables nor files. */
const dataVersionOf = (version: string): readonly number[] => version.split('.').slice(0, 2).map(Number);

function isNewer(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [ownMajor = 0, ownMinor = 0]] = [dataVersionOf(version), dataVersionOf(than)];
  return major > ownMajor || (major === ownMajor && minor > ownMinor);
}

/** The release that last used a data folder; undefined where none has noted itself. */
function versionOf(file: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
  } catch {
    return undefined;
  }
}

/**
 * Notes in a data folder which release uses it. Throws `NewerData` when a newer one did: migrations are not taken back. A folder without
 * a note is older than the note.
 */
export function claimVersion(data: DataFolder, version = ownVersion()): void {
  const file = data.inside('version.json');
  const last = versionOf(file);
  if (last !== undefined && isNewer(last, version)) throw new NewerData(data.root, last, version);
  if (last === version) return;
  writeFileSync(`${file}.new`, `${JSON.stringify({ version })}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
