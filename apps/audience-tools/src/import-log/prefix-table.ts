import { columns, type Columns, type JsonRows } from '@longwave/audience-store';
import { setStatementTimeout, type Transaction } from '@longwave/postgres';
import type { FileOutcome, PrefixRow } from './gather-requests.ts';
import { prefixKey, type PrefixTally } from './prefix-tally.ts';

/** Locks the imports of a workspace until the transaction ends. */
export async function lockPrefixImports(tx: Transaction, workspaceId: string): Promise<void> {
  await setStatementTimeout(tx, 0);
  await tx.query('set local lock_timeout = 0');
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`prefix import ${workspaceId}`]);
}

/** The imported files of a workspace by digest, each with the name of its secret. */
export async function findPrefixImports(tx: Transaction, workspaceId: string): Promise<Map<string, string>> {
  const { rows } = await tx.query<Columns<'prefix_import', 'digest' | 'secret_name'>>(
    'select digest, secret_name from prefix_import where workspace_id = $1',
    [workspaceId],
  );
  return new Map(rows.map((row) => [row.digest, row.secret_name]));
}

/** Stores that a file was imported. */
export async function insertPrefixImport(
  tx: Transaction,
  workspaceId: string,
  file: { readonly digest: string; readonly secretName: string } & FileOutcome,
  versions: { readonly methodologyVersion: string; readonly listsVersion: string },
): Promise<void> {
  await tx.query(
    `insert into prefix_import (workspace_id, digest, secret_name, records, malformed, judged, methodology_version, lists_version)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      workspaceId,
      file.digest,
      file.secretName,
      file.records,
      file.malformed,
      JSON.stringify(Object.fromEntries(file.judged)),
      versions.methodologyVersion,
      versions.listsVersion,
    ],
  );
}

/** Adds requests; those of a stored listener, episode and date are merged as in `mergePrefixMarks`. */
export async function savePrefixRequests(
  tx: Transaction,
  workspaceId: string,
  requests: readonly PrefixRow[],
): Promise<void> {
  const rows = requests.map((one): JsonRows['prefix_request'] => ({
    workspace_id: workspaceId,
    listener_key: one.listenerKey,
    episode_id: one.episodeId,
    window_on: one.windowOn,
    podcast_id: one.podcastId,
    started_at: new Date(one.startedAtMs).toISOString(),
    first_two: one.firstTwo,
  }));
  await tx.query(
    `insert into prefix_request as known (${columns.prefix_request})
     select ${columns.prefix_request} from json_populate_recordset(null::prefix_request, $1)
     on conflict (workspace_id, listener_key, podcast_id, episode_id, window_on) do update
     set started_at = least(known.started_at, excluded.started_at), first_two = known.first_two and excluded.first_two
     where excluded.started_at < known.started_at or known.first_two and not excluded.first_two`,
    [JSON.stringify(rows)],
  );
}

/** The stored requests of a workspace by podcast, episode and UTC day, in [from, to). Undefined: no bound. */
export async function readPrefixTally(
  tx: Transaction,
  workspaceId: string,
  range: { readonly podcastId: string | undefined; readonly from: Date | undefined; readonly to: Date | undefined },
): Promise<PrefixTally> {
  const { rows } = await tx.query<
    Columns<'prefix_request', 'podcast_id' | 'episode_id'> & { day: string; requests: string; first_two: string }
  >(
    `select podcast_id, episode_id, window_on::text as day, count(*) as requests, count(*) filter (where first_two) as first_two
     from prefix_request where workspace_id = $1 and ($2::text is null or podcast_id = $2)
       and ($3::timestamptz is null or started_at >= $3) and ($4::timestamptz is null or started_at < $4)
     group by 1, 2, 3`,
    [workspaceId, range.podcastId ?? null, range.from ?? null, range.to ?? null],
  );
  return new Map(
    rows.map((row) => [
      prefixKey(row.podcast_id, row.episode_id, row.day),
      { prefix_requests: Number(row.requests), first_two: Number(row.first_two) },
    ]),
  );
}
