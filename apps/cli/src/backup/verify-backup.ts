import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pMap from 'p-map';
import { digestOf, readLines } from './digested-file.ts';
import {
  busName,
  manifestName,
  objectFile,
  objectLine,
  objectsName,
  readManifest,
  type Manifest,
  type ObjectLine,
} from './manifest.ts';

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

/**
 * Finds the first step of a path below a folder at which a link or a special file stands in place of a folder or, at the end, of a
 * regular file. Answers undefined when every step is regular.
 * Throws where nothing is.
 */
export function irregularPart(folder: string, name: string): string | undefined {
  const steps = name.split('/');
  return steps
    .map((_, at) => steps.slice(0, at + 1).join('/'))
    .find((part) => {
      const found = lstatSync(path.join(folder, part));
      return part === name ? !found.isFile() : !found.isDirectory();
    });
}

/**
 * Compares a file with its digest; answers what is wrong with it.
 * @param name its path below the folder
 * @param shown how the sentence calls it
 */
async function compare(folder: string, name: string, sha256: string, shown = name): Promise<readonly string[]> {
  if (lstatSync(path.join(folder, name), { throwIfNoEntry: false }) === undefined) return [`${shown} is missing.`];
  if (irregularPart(folder, name) !== undefined) return [`${shown} is not a regular file.`];
  return (await digestOf(path.join(folder, name))).sha256 === sha256 ? [] : [`${shown} was changed.`];
}

/** Compares the list of files in a manifest with the files of the backup and with those that it needs. Answers a sentence for each that is not listed. */
function compareList(backup: string, { files, database, bus }: Manifest): readonly string[] {
  const listed = new Set(files.map(({ path: name }) => name));
  const needed = [
    ...database.schemas.flatMap(({ tables }) => tables.map(({ file }) => file)),
    ...(bus ? [busName] : []),
    objectsName,
  ];
  const found = readdirSync(backup, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(backup, path.join(entry.parentPath, entry.name)))
    .filter((name) => name !== manifestName);
  return [...new Set([...needed, ...found])]
    .filter((name) => !listed.has(name))
    .map((name) => `${name} is not in the manifest.`);
}

/** Reads every file of a backup but its objects, and compares it with its SHA-256. There must be no others. */
export async function verifyFiles(backup: string): Promise<VerifiedBackup> {
  const manifest = readManifest(backup);
  const problems = await pMap(manifest.files, ({ path: name, sha256 }) => compare(backup, name, sha256), {
    concurrency,
  });
  return { manifest, problems: [...problems.flat(), ...compareList(backup, manifest)] };
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
      const name = path.relative(folder, objectFile(folder, sha256));
      const found = await compare(folder, name, sha256, `The object ${key}`);
      count += 1;
      onObject(count);
      return found;
    },
    { concurrency },
  );
  return { manifest, problems: [...problems, ...ofObjects.flat()] };
}
