import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** PostgreSQL refuses to run as root, so root lends it another user. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Raised when a data folder is a copy of another one and names that one's database as its own. */
class CopiedFolder extends Error {
  constructor(copy: string, first: string, database: string) {
    super(
      `${path.dirname(copy)} is a copy of ${path.dirname(first)}, whose database is in ${database} and was not copied with it. ` +
        `Use the first folder, or give the copy a database of its own (docs/engines.md, “Copying a data folder”). ` +
        `If ${path.dirname(copy)} takes the place of the first folder, with its database: npm start -- --adopt`,
    );
    this.name = 'CopiedFolder';
  }
}

const isSameFile = (a: string, b: string) => a === b || (existsSync(a) && realpathSync(a) === realpathSync(b));

const ownerFileOf = (folder: string) => path.join(folder, 'pointer');

/** The pointer of another installation that also has `folder`: both name each other. */
function otherOwnerOf(folder: string, pointer: string): string | undefined {
  const ownerFile = ownerFileOf(folder);
  const owner = existsSync(ownerFile) ? readFileSync(ownerFile, 'utf8') : undefined;
  if (owner === undefined || isSameFile(owner, pointer)) return undefined;
  return existsSync(owner) && readFileSync(owner, 'utf8') === folder ? owner : undefined;
}

/**
 * Makes sure that `folder` belongs to the installation with this pointer: both name each other. An installation that was moved takes
 * its database along. Throws `CopiedFolder` when the other installation still is where it was.
 */
function claimFolder(folder: string, pointer: string): void {
  const owner = otherOwnerOf(folder, pointer);
  if (owner !== undefined) throw new CopiedFolder(pointer, owner, path.join(folder, 'content'));
  writeFileSync(ownerFileOf(folder), pointer);
}

/** Folder for what an unprivileged user must reach when the repository lies in a private folder of root's. */
const sharedFolder = '/var/lib/longwave';
const namePrefix = 'data-';

/** The user PostgreSQL runs as: undefined (ourselves) unless we are root. */
export function postgresUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, user], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  throw new Error('PostgreSQL does not run as root and there is neither a user "postgres" nor "nobody" to run it as');
}

function canReach(user: SystemUser, target: string): boolean {
  return spawnSync('test', ['-x', target], { ...user, cwd: '/' }).status === 0;
}

/** The folder of PostgreSQL's programs, or a copy of it where `user` can execute them. */
export function reachablePrograms(programs: string, version: string, user: SystemUser | undefined): string {
  if (!user || canReach(user, path.join(programs, 'bin/postgres'))) return programs;
  const copy = path.join(sharedFolder, `postgres-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${randomUUID()}`;
    mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
    cpSync(programs, unfinished, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(unfinished, copy);
    } catch {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  return copy;
}

/** Removes databases of temporary installations that are gone; others may have been moved and are never touched. */
function removeAbandoned(): void {
  for (const entry of readdirSync(sharedFolder).filter((name) => name.startsWith(namePrefix))) {
    const folder = path.join(sharedFolder, entry);
    if (!existsSync(path.join(folder, 'pointer'))) continue;
    const pointer = readFileSync(path.join(folder, 'pointer'), 'utf8');
    if (pointer.startsWith(`${tmpdir()}/`) && !existsSync(pointer)) rmSync(folder, { recursive: true, force: true });
  }
}

const pointerEnding = '.location';
const pointerOf = (wanted: string) => `${wanted}${pointerEnding}`;

/** Whether `reachableFolder` makes folders of this path. */
const isShared = (folder: string) =>
  path.dirname(folder) === sharedFolder && path.basename(folder).startsWith(namePrefix);

/** The folder that a pointer names; undefined where there is no pointer. Throws when it names one that `reachableFolder` does not make. */
function readPointer(pointer: string): string | undefined {
  if (!existsSync(pointer)) return undefined;
  const folder = readFileSync(pointer, 'utf8');
  if (isShared(folder)) return folder;
  throw new Error(
    `${pointer} names ${folder}, where no database of Longwave is: databases are folders of ${sharedFolder}.`,
  );
}

/** The folder that stands for `wanted` now: see `reachableFolder`. */
export function locateFolder(wanted: string): string {
  const folder = readPointer(pointerOf(wanted));
  return folder === undefined ? wanted : path.join(folder, 'content');
}

/** The installation of which the one with `wanted` is a copy that has no database of its own, by the path of the same folder there. */
export function findOriginal(wanted: string): string | undefined {
  const pointer = pointerOf(wanted);
  const folder = readPointer(pointer);
  return folder === undefined ? undefined : otherOwnerOf(folder, pointer)?.slice(0, -pointerEnding.length);
}

/** Takes the folder that stands for `wanted` away from the installation of which this one is a copy. */
export function takeFolder(wanted: string): void {
  const pointer = pointerOf(wanted);
  const folder = readPointer(pointer);
  if (folder !== undefined) writeFileSync(ownerFileOf(folder), pointer);
}

/**
 * The folder that stands for `wanted`, owned by `user`: `wanted` itself, or, where `user` cannot enter its
 * parents, a folder under /var/lib/longwave that the file `<wanted>.location` points to. Throws `CopiedFolder`.
 */
export function reachableFolder(wanted: string, user: SystemUser | undefined): string {
  if (!user) {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    return wanted;
  }
  const pointer = pointerOf(wanted);
  const present = readPointer(pointer);
  if (present !== undefined && existsSync(present)) {
    claimFolder(present, pointer);
    return path.join(present, 'content');
  }
  mkdirSync(wanted, { recursive: true, mode: 0o700 });
  chownSync(wanted, user.uid, user.gid);
  if (canReach(user, wanted)) return wanted;
  mkdirSync(sharedFolder, { recursive: true, mode: 0o755 });
  removeAbandoned();
  // Complete before it gets its name, so that nobody takes it for abandoned.
  const id = randomUUID();
  const unfinished = path.join(sharedFolder, `unfinished-${id}`);
  const folder = path.join(sharedFolder, `${namePrefix}${id}`);
  mkdirSync(path.join(unfinished, 'content'), { recursive: true, mode: 0o755 });
  chownSync(path.join(unfinished, 'content'), user.uid, user.gid);
  writeFileSync(path.join(unfinished, 'pointer'), pointer);
  writeFileSync(pointer, folder);
  renameSync(unfinished, folder);
  return path.join(folder, 'content');
}

/** Removes the folder, wherever it is. One that lies elsewhere and belongs to another installation, or is none of ours, stays. */
export function removeReachableFolder(wanted: string): void {
  const pointer = pointerOf(wanted);
  const folder = existsSync(pointer) ? readFileSync(pointer, 'utf8') : undefined;
  if (folder !== undefined && isShared(folder) && existsSync(ownerFileOf(folder))) {
    const isOwn = isSameFile(readFileSync(ownerFileOf(folder), 'utf8'), pointer);
    if (isOwn) rmSync(folder, { recursive: true, force: true });
  }
  rmSync(pointer, { force: true });
  rmSync(wanted, { recursive: true, force: true });
}

/** Makes a folder that lies elsewhere belong to the installation at its new path, after that was moved. */
export function followMove(wanted: string): void {
  const pointer = pointerOf(wanted);
  const folder = readPointer(pointer);
  if (folder !== undefined) writeFileSync(ownerFileOf(folder), pointer);
}
