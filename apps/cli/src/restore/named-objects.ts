import pg from 'pg';

/** An object that a row names. */
interface NamedObject {
  readonly key: string;
  /** SHA-256 that the row states; null where it states none. */
  readonly sha256: string | null;
  /** The row, for the operator. */
  readonly row: string;
}

/**
 * A query for every place in which a row names an object that must be there; columns as in `NamedObject`. Left out are files that are removed
 * in time: of uploads that were not used, and of reports that are over.
 */
export const namedObjects: readonly string[] = [
  // Encoded audio, artwork, transcripts, exports, imports, serving plans, and whatever else an attribute names.
  `select f ->> 'storage_key' as key, f ->> 'sha256' as sha256, r.resource_type || ' ' || r.id as row
   from product.resource r, jsonb_path_query(r.attributes, 'strict $.** ? (exists (@.storage_key))') f
   where f ->> 'storage_key' !~ '^(uploads|reports)/'
     or r.resource_type = 'uploads' and r.lifecycle_state = 'received'
     or r.resource_type = 'report_runs' and r.lifecycle_state = 'ready'`,
  // The parts of what was delivered once and is delivered for ever.
  `select distinct case when p ->> 'store' = 'artwork' then 'artwork/' else 'media/' end || (p ->> 'blob') as key,
     p ->> 'blob' as sha256, 'arrangement ' || a.id as row
   from delivery.arrangement a, jsonb_array_elements(a.document -> 'parts') p
   where not exists (select from delivery.header h where h.digest = p ->> 'blob')`,
  `select storage_key as key, null as sha256, 'shown file ' || digest as row from delivery.shown_file where storage_key is not null`,
  `select 'decisions/' || to_char(at at time zone 'UTC', 'YYYY-MM-DD') || '/' || encode(archived_in, 'hex') || '.ndjson.gz' as key,
     null as sha256, 'decision ' || decision_id as row
   from serving.packed_decision where archived_in is not null`,
];

const batchRows = 10_000;

/**
 * Compares every object that a row of the database names with those of a store; answers sentences, at most `maxProblems`.
 * @param url of the database, as superuser
 * @param digests SHA-256 of every object that is there, by key
 */
export async function findMissingObjects(
  url: string,
  digests: ReadonlyMap<string, string>,
  maxProblems = 20,
): Promise<{ readonly named: number; readonly problems: readonly string[] }> {
  const client = new pg.Client({ connectionString: url, application_name: 'restore' });
  client.on('error', () => undefined);
  await client.connect();
  const problems: string[] = [];
  let named = 0;
  try {
    await client.query('begin isolation level repeatable read read only');
    for (const source of namedObjects) {
      await client.query(`declare named no scroll cursor for ${source}`);
      for (;;) {
        const { rows } = await client.query<NamedObject>(`fetch ${batchRows} from named`);
        if (rows.length === 0) break;
        named += rows.length;
        for (const { key, sha256, row } of rows) {
          const found = digests.get(key);
          if (problems.length >= maxProblems) break;
          if (found === undefined) problems.push(`${row} names ${key}, which is missing.`);
          else if (sha256 !== null && sha256 !== found) problems.push(`${row} names ${key}, which has other bytes.`);
        }
      }
      await client.query('close named');
    }
    return { named, problems };
  } finally {
    await client.end();
  }
}
