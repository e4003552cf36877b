import { parsePayload, type MessageOf, type PlatformEvidence } from '@longwave/exchange-messages';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** Evidence whose rows are to be imported. */
export interface DueImport {
  readonly evidenceId: string;
  readonly workspaceId: string;
  readonly attempts: number;
  /** Base64url, as it came. */
  readonly payload: string;
}

export async function insertImport(
  tx: Transaction,
  one: {
    readonly evidenceId: string;
    readonly workspaceId: string;
    readonly authorityId: string;
    readonly digest: string;
    readonly dueAt: Date;
  },
): Promise<void> {
  await tx.query({
    name: 'insert_import',
    text: `insert into evidence_import (evidence_id, workspace_id, authority_id, message_digest, next_attempt_at) values ($1, $2, $3, $4, $5)
           on conflict do nothing`,
    values: [one.evidenceId, one.workspaceId, one.authorityId, one.digest, one.dueAt],
  });
}

/**
 * The import that is due longest, of an authority of which no other runs: a slow host holds up its own platform alone. It comes again in
 * `leaseMs`, unless it has ended. The first import of each authority is looked up in an index, so that the length of its queue does not
 * matter.
 */
export async function takeImport(pool: Pool, now: Date, leaseMs: number): Promise<DueImport | undefined> {
  const { rows } = await pool.query<
    Columns<'evidence_import', 'evidence_id' | 'workspace_id' | 'attempts'> & Columns<'message', 'payload'>
  >({
    name: 'take_import',
    text: `with recursive line as (
             (select authority_id from evidence_import where ended_at is null order by authority_id limit 1)
             union all
             select next.authority_id from line cross join lateral (
               select authority_id from evidence_import where ended_at is null and authority_id > line.authority_id
               order by authority_id limit 1) next),
           taken as (
             update evidence_import set attempts = attempts + 1, next_attempt_at = $1::timestamptz + $2 * interval '1 ms',
               running_until = $1::timestamptz + $2 * interval '1 ms'
             where evidence_id = (
               select evidence_id from evidence_import where next_attempt_at <= $1 and evidence_id = any(array(
                 select due.evidence_id from line cross join lateral (
                   select evidence_id from evidence_import
                   where authority_id = line.authority_id and ended_at is null and next_attempt_at <= $1
                   order by next_attempt_at limit 1) due
                 where not exists (
                   select from evidence_import where authority_id = line.authority_id and ended_at is null and running_until > $1)))
               order by next_attempt_at limit 1 for update skip locked)
             returning evidence_id, workspace_id, message_digest, attempts)
           select taken.evidence_id, taken.workspace_id, taken.attempts, message.payload
           from taken join message on message.digest = taken.message_digest`,
    values: [now, leaseMs],
  });
  const [row] = rows;
  return (
    row && {
      evidenceId: row.evidence_id,
      workspaceId: row.workspace_id,
      attempts: row.attempts,
      payload: row.payload,
    }
  );
}

export async function postponeImport(pool: Pool, evidenceId: string, until: Date): Promise<void> {
  await pool.query({
    name: 'postpone_import',
    text: `update evidence_import set next_attempt_at = $2, running_until = null where evidence_id = $1`,
    values: [evidenceId, until],
  });
}

export async function endImport(pool: Pool, evidenceId: string, now: Date): Promise<void> {
  await pool.query({
    name: 'end_import',
    text: `update evidence_import set ended_at = $2, running_until = null where evidence_id = $1`,
    values: [evidenceId, now],
  });
}

export type EvidenceBody = PlatformEvidence;

/** The evidence that an authority has sent under an id of management; undefined for that of others. */
export async function findEvidenceBody(
  pool: Pool,
  authorityId: string,
  evidenceId: string,
): Promise<EvidenceBody | undefined> {
  const { rows } = await pool.query<Columns<'message', 'payload'>>({
    name: 'find_evidence',
    text: `select m.payload from evidence_import e join message m on m.digest = e.message_digest
           where e.evidence_id = $2 and m.authority_id = $1`,
    values: [authorityId, evidenceId],
  });
  return rows[0] && evidenceOf(rows[0].payload).body;
}

/** The evidence in a stored payload. Throws for a payload of another kind. */
export function evidenceOf(payload: string): MessageOf<'platform-evidence/1'> {
  const parsed = parsePayload(Buffer.from(payload, 'base64url'));
  if (!parsed.ok || parsed.message.schema !== 'platform-evidence/1')
    throw new Error('a stored message is no evidence any more');
  return parsed.message;
}

/** Those of these ids under which an authority has sent an episode, whatever has become of it. */
export async function findSentEpisodes(
  pool: Pool,
  authorityId: string,
  sourceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<Columns<'message', 'source_id'>>({
    name: 'find_sent_episodes',
    text: `select source_id from unnest($2::text[]) as named(source_id) where exists (
             select from message m where m.authority_id = $1 and m.subject_type = 'episode' and m.source_id = named.source_id)`,
    values: [authorityId, sourceIds],
  });
  return new Set(rows.map(({ source_id: id }) => id));
}

/** The episodes that the sources of an authority are, by source id. */
export async function findEpisodes(
  pool: Pool,
  authorityId: string,
  sourceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ readonly source_id: string; readonly episode_id: string }>({
    name: 'find_episodes',
    text: `select distinct on (source_id) source_id, attributes ->> 'episode_id' as episode_id from snapshot
           where authority_id = $1 and source_id = any($2) and attributes ->> 'episode_id' is not null
           order by source_id, source_version desc`,
    values: [authorityId, sourceIds],
  });
  return new Map(rows.map(({ source_id: id, episode_id: episode }) => [id, episode]));
}
