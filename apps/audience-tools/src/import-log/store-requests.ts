import { methodologyVersion } from '@longwave/audience';
import { transaction, type Pool } from '@longwave/postgres';
import type { GatheredRequests } from './gather-requests.ts';
import { findPrefixImports, insertPrefixImport, lockPrefixImports, savePrefixRequests } from './prefix-table.ts';

const maxRows = 5_000;

/** The workspace has requests under another secret; the message says what to do. */
class OtherSecret extends Error {}

/**
 * Stores the requests of files that are new to a workspace, all or nothing. A file that was imported before, under whatever name, changes
 * nothing and is not read. Throws `OtherSecret`.
 * @param gather reads files, by their places in the list
 * @returns the requests of the new files; undefined when there is no new file
 */
export async function storeRequests<G extends GatheredRequests>(
  pool: Pool,
  workspaceId: string,
  files: readonly { readonly digest: string }[],
  by: { readonly secretName: string; readonly listsVersion: string },
  gather: (places: readonly number[]) => Promise<G>,
): Promise<{ readonly places: readonly number[]; readonly gathered: G | undefined }> {
  return transaction(pool, async (tx) => {
    await lockPrefixImports(tx, workspaceId);
    const known = await findPrefixImports(tx, workspaceId);
    if ([...known.values()].some((name) => name !== by.secretName))
      throw new OtherSecret(
        'Requests of this workspace were stored with another secret. Use that secret file; with a different one, listeners would be counted twice.',
      );
    const firstPlaces = new Map(files.map(({ digest }, place) => [digest, place] as const).reverse());
    const places = [...firstPlaces]
      .filter(([digest]) => !known.has(digest))
      .map(([, place]) => place)
      .sort((a, b) => a - b);
    if (places.length === 0) return { places, gathered: undefined };
    await tx.query(`set local idle_in_transaction_session_timeout = 0`);
    const gathered = await gather(places);
    for (const [index, outcome] of gathered.outcomes.entries())
      await insertPrefixImport(
        tx,
        workspaceId,
        { ...outcome, digest: files[places[index]!]!.digest, secretName: by.secretName },
        { methodologyVersion, listsVersion: by.listsVersion },
      );
    for await (const rows of gathered.rows)
      for (let at = 0; at < rows.length; at += maxRows)
        await savePrefixRequests(tx, workspaceId, rows.slice(at, at + maxRows));
    return { places, gathered };
  });
}
