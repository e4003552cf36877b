import { findResource } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';

const expiresInSeconds = 3600;

/** A signed GET of a finished export. Throws `not_found` while there is no file. */
export const createSignExport =
  (pool: Pool, store: ObjectStore, clock: () => Date) =>
  async (workspaceId: string, exportId: string): Promise<{ readonly url: string; readonly expiresAtMs: bigint }> => {
    const row = await findResource(pool, workspaceId, 'statistics_exports', exportId);
    const file = row?.attributes.file;
    if (!file) throw new Problem('not_found', `There is no finished export ${exportId.slice(0, 64)}.`);
    const url = await store.presignGet(file.storage_key, { expiresInSeconds });
    return { url, expiresAtMs: BigInt(clock().getTime() + expiresInSeconds * 1000) };
  };
