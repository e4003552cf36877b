import { existsSync } from 'node:fs';
import path from 'node:path';
import pMap from 'p-map';
import { digestOf, readLines } from './digested-file.ts';
import { objectFile, objectLine, objectsName, readManifest, type Manifest, type ObjectLine } from './manifest.ts';

const concurrency = 4;

/** The objects of a backup. */
export async function* readObjects(backup: string): AsyncGenerator<ObjectLine> {
  for await (const line of readLines(path.join(backup, objectsName))) yield objectLine.parse(JSON.parse(line));
}

/** What a look at every byte of a backup found. */
export interface VerifiedBackup {
  readonly manifest: Manifest;
  /** Sentences; none when the backup is whole. */
  readonly problems: readonly string[];
}

/** Compares a file with its digest; answers what is wrong with it. */
async function compare(file: string, name: string, sha256: string): Promise<readonly string[]> {
  if (!existsSync(file)) return [`${name} is missing.`];
  return (await digestOf(file)).sha256 === sha256 ? [] : [`${name} was changed.`];
}

/** Reads every file of a backup but its objects, and compares it with its SHA-256. */
export async function verifyFiles(backup: string): Promise<VerifiedBackup> {
  const manifest = readManifest(backup);
  const problems = await pMap(
    manifest.files,
    ({ path: name, sha256 }) => compare(path.join(backup, name), name, sha256),
    { concurrency },
  );
  return { manifest, problems: problems.flat() };
}

/**
 * Reads every file and object of a backup and compares them with their SHA-256.
 * @param folder of all backups
 * @param backup of this one
 */
export async function verifyBackup(
  folder: string,
  backup: string,
  onObject: (count: number) => void,
): Promise<VerifiedBackup> {
  const { manifest, problems } = await verifyFiles(backup);
  // Without the list, nobody knows which objects there should be.
  if (problems.some((problem) => problem.startsWith(objectsName))) return { manifest, problems };
  let count = 0;
  const ofObjects = await pMap(
    readObjects(backup),
    async ({ key, sha256 }) => {
      const found = await compare(objectFile(folder, sha256), `The object ${key}`, sha256);
      count += 1;
      onObject(count);
      return found;
    },
    { concurrency },
  );
  return { manifest, problems: [...problems, ...ofObjects.flat()] };
}
