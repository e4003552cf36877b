import type { ListedObject, ObjectStore } from '@longwave/object-store';
import pMap from 'p-map';

/**
 * Folders whose objects are named by their SHA-256 and removed by nobody else. Others have an end of their own: `uploads/`, `reports/`, the
 * archives `bus/`, `decisions/` and `bindings/`; `plans/` explains decisions for as long as there are any.
 */
const sweptFolders = ['media', 'artwork', 'transcripts', 'exports', 'imports'] as const;
const sweptKey = new RegExp(`^(?:${sweptFolders.join('|')})/([0-9a-f]{64})(?:\\.\\w+)?$`);

/** The folder in which objects wait until they are removed for good: `removed/{milliseconds since 1970}/{key}`. A copy may have the date of its source. */
const waitingFolder = 'removed/';
const waitingKey = /^removed\/(\d{13})\/(.+)$/;

/** Looked up in the database together. */
const maxCandidates = 10_000;
const concurrency = 4;
/** S3 copies no larger object. */
const maxCopyBytes = 5 * 1024 ** 3;

/** The result of a sweep, or of a dry run. */
export interface Swept {
  /** Objects of the swept folders. */
  readonly seen: number;
  /** Too young to be looked up. */
  readonly young: number;
  readonly named: number;
  /** Moved to `removed/`. */
  readonly moved: number;
  readonly movedBytes: number;
  /** Moved back, because a row names them now. */
  readonly restored: number;
  /** Removed from `removed/` for good. */
  readonly removed: number;
  readonly removedBytes: number;
}

export interface SweepOptions {
  readonly store: Pick<ObjectStore, 'list' | 'find' | 'copy' | 'remove'>;
  /** The keys among these that a row names now; digests by key. */
  readonly findNamed: (digests: ReadonlyMap<string, string>) => Promise<ReadonlySet<string>>;
  /** Objects that were stored since then stay: who stores one may be about to name it. */
  readonly before: Date;
  /** True: counts alone. */
  readonly isDryRun: boolean;
  /** Called with the number of objects seen so far. */
  readonly onSeen: (count: number) => void;
}

/** Pieces of a listing. */
async function* inPieces(listing: AsyncIterable<ListedObject>): AsyncGenerator<ListedObject[]> {
  let piece: ListedObject[] = [];
  for await (const each of listing) {
    piece.push(each);
    if (piece.length < maxCandidates) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

const sizeOf = (objects: readonly ListedObject[]) => objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/**
 * Moves old objects that no row names to `removed/`, and removes those that have waited there since a time, or brings back those that a row
 * names again. An object is moved only if it was not stored again since it was listed; if that happens in the milliseconds
 * between the last look and the move, the next sweep brings it back. May be interrupted at any point and run again.
 */
export async function sweepObjects({ store, findNamed, before, isDryRun, onSeen }: SweepOptions): Promise<Swept> {
  const swept = { seen: 0, young: 0, named: 0, moved: 0, movedBytes: 0, restored: 0, removed: 0, removedBytes: 0 };

  /** The old objects of a piece, apart by whether a row names them. */
  async function divide(piece: readonly ListedObject[], keyOf: (one: ListedObject) => string) {
    const digests = new Map(
      piece.flatMap((one) => {
        const digest = sweptKey.exec(keyOf(one))?.[1];
        return digest === undefined ? [] : [[keyOf(one), digest] as const];
      }),
    );
    const named = digests.size > 0 ? await findNamed(digests) : new Set<string>();
    const known = piece.filter((one) => digests.has(keyOf(one)));
    return {
      named: known.filter((one) => named.has(keyOf(one))),
      unnamed: known.filter((one) => !named.has(keyOf(one))),
    };
  }

  const isOld = ({ modifiedAt }: Pick<ListedObject, 'modifiedAt'>) => modifiedAt < before;

  const waitingNow = `${waitingFolder}${Date.now()}/`;

  async function move(one: ListedObject): Promise<boolean> {
    if (one.sizeBytes > maxCopyBytes) return false;
    if (!(await store.copy(one.key, waitingNow + one.key, { etag: one.etag }))) return false;
    const now = await store.find(one.key);
    if (!now || !isOld(now)) return false;
    await store.remove(one.key);
    return true;
  }

  const originalKey = ({ key }: ListedObject) => waitingKey.exec(key)?.[2] ?? '';
  const hasWaited = ({ key }: ListedObject) => Number(waitingKey.exec(key)?.[1]) < before.getTime();
  for await (const piece of inPieces(store.list(waitingFolder))) {
    const { named, unnamed } = await divide(piece, originalKey);
    const over = unnamed.filter(hasWaited);
    const bringBack = async (one: ListedObject): Promise<number> => {
      if (await store.find(originalKey(one))) return 0;
      if (!isDryRun && !(await store.copy(one.key, originalKey(one), { etag: one.etag })))
        throw new Error(`${one.key} is named, and could not be moved back.`);
      return 1;
    };
    for (const restored of await pMap(named, bringBack, { concurrency })) swept.restored += restored;
    swept.removed += over.length;
    swept.removedBytes += sizeOf(over);
    if (!isDryRun) await pMap([...named, ...over], ({ key }) => store.remove(key), { concurrency });
  }

  for (const folder of sweptFolders)
    for await (const piece of inPieces(store.list(`${folder}/`))) {
      const old = piece.filter(isOld);
      const { named, unnamed } = await divide(old, ({ key }) => key);
      swept.seen += piece.length;
      swept.young += piece.length - old.length;
      swept.named += named.length;
      const moved = isDryRun
        ? unnamed
        : (await pMap(unnamed, async (one) => ((await move(one)) ? [one] : []), { concurrency })).flat();
      swept.moved += moved.length;
      swept.movedBytes += sizeOf(moved);
      onSeen(swept.seen);
    }
  return swept;
}
