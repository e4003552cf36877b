import { hash } from 'node:crypto';
import { methodologyVersion, unionIntervals, type Judgement, type Layout, type ServedBytes } from '@longwave/audience';
import { columns, type Columns, type JsonRows, renderMultirange } from '@longwave/audience-store';
import { copyRows, type Transaction } from '@longwave/postgres';
import { isTrackWhole } from './track-table.ts';

/** User agents and tracks that facts may wait for, by digest. */
export interface AwaitedNames {
  readonly agents: readonly string[];
  readonly tracks: readonly string[];
}

export interface ClassifiedFact {
  readonly fact: ServedBytes;
  /** Undefined while the text of its user agent or the description of its track is unknown. */
  readonly judgement: Judgement | undefined;
}

const layoutDigests = new WeakMap<ServedBytes, string>();

/** SHA-256 (hex) of a fact's arrangement, its size and its parts; of HLS also the track. */
export function layoutDigest(fact: ServedBytes): string {
  const known = layoutDigests.get(fact);
  if (known !== undefined) return known;
  const { arrangement_id, total_bytes, parts, track } = fact;
  const named = [arrangement_id, total_bytes, parts, ...(track === undefined ? [] : [track])];
  const digest = hash('sha256', JSON.stringify(named));
  layoutDigests.set(fact, digest);
  return digest;
}

/** Stores layouts that are new. */
export async function insertLayouts(tx: Transaction, layouts: ReadonlyMap<string, ServedBytes>): Promise<void> {
  const rows = [...layouts].map(([digest, fact]): JsonRows['layout'] => ({
    digest,
    arrangement_id: fact.arrangement_id,
    total_bytes: fact.total_bytes,
    parts: fact.parts,
    track: fact.track ?? null,
  }));
  await tx.query(
    `insert into layout (${columns.layout}) select ${columns.layout} from json_populate_recordset(null::layout, $1)
     order by digest on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/** Layouts by digest. */
export async function loadLayouts(tx: Transaction, digests: readonly string[]): Promise<Map<string, Layout>> {
  const { rows } = await tx.query<
    Columns<'layout', 'digest' | 'total_bytes' | 'parts' | 'track', { parts: Layout['parts'] }>
  >(`select digest, total_bytes, parts, track from layout where digest = any($1)`, [digests]);
  return new Map(
    rows.map(({ digest, total_bytes, parts, track }) => [
      digest,
      { totalBytes: Number(total_bytes), parts, track: track ?? undefined },
    ]),
  );
}

/** Whether another transaction has stored a fact since this one looked for it: `insertFacts` knows it at the next try. */
export const isFactDuplicate = (error: unknown): boolean =>
  /^fact_\w*pkey$/.test(String((error as { readonly constraint?: unknown } | null)?.constraint));

/**
 * Appends facts and answers the new ones: a redelivered fact is not counted again. Throws what `isFactDuplicate` knows when
 * another transaction stores one of them at the same time.
 */
export async function insertFacts(
  tx: Transaction,
  facts: readonly ClassifiedFact[],
  listsVersion: string,
): Promise<ClassifiedFact[]> {
  const judgedBy = `${methodologyVersion} ${listsVersion}`;
  const { rows: stored } = await tx.query<Columns<'fact', 'fact_id'>>(
    `select fact_id from fact where fact_id = any($1)`,
    [facts.map(({ fact }) => fact.fact_id)],
  );
  const known = new Set(stored.map((row) => row.fact_id));
  const fresh = facts.filter(({ fact }) => !known.has(fact.fact_id));
  // One order for all transactions, because each waits for the facts of the others.
  const inOrder = fresh.toSorted((a, b) => (a.fact.fact_id < b.fact.fact_id ? -1 : 1));
  await copyRows(
    tx,
    'fact',
    columns.fact,
    inOrder.map(({ fact, judgement }): JsonRows['fact'] => ({
      fact_id: fact.fact_id,
      request_id: fact.request_id,
      started_at: fact.started_at,
      at: fact.at,
      workspace_id: fact.workspace_id,
      podcast_id: fact.podcast_id,
      episode_id: fact.episode_id,
      layout_digest: layoutDigest(fact),
      method: fact.method,
      status: fact.status,
      published_at: fact.published_at,
      listener_key: fact.listener_key,
      previous_listener_key: fact.previous_listener_key ?? null,
      address_key: fact.address_key,
      address_verdict: fact.address_verdict,
      address_safe: fact.address_safe === true,
      user_agent_digest: fact.user_agent_digest,
      prefetch: fact.prefetch,
      preload: fact.preload,
      internal: fact.internal,
      web_player: fact.web_player ?? null,
      country: fact.country,
      region: fact.region,
      late: fact.late,
      lists_version: fact.lists_version,
      judgement: judgement ?? null,
      judged_by: judgement === undefined ? null : judgedBy,
      requested: renderMultirange(unionIntervals(fact.requested)),
      written: renderMultirange(unionIntervals(fact.written)),
      play_id: fact.play_id ?? null,
      play_address_key: fact.play_address_key ?? null,
    })),
  );
  const pending = fresh.filter(({ judgement }) => judgement === undefined);
  if (pending.length > 0)
    await tx.query(
      `insert into pending_fact (${columns.pending_fact})
       select ${columns.pending_fact} from json_populate_recordset(null::pending_fact, $1) order by fact_id`,
      [
        JSON.stringify(
          pending.map(({ fact }): JsonRows['pending_fact'] => ({
            fact_id: fact.fact_id,
            // A fact without a user agent is rejected at once.
            user_agent_digest: fact.user_agent_digest!,
            started_at: fact.started_at,
            payload: fact,
            track: fact.track ?? null,
          })),
        ),
      ],
    );
  return fresh;
}

/**
 * Takes up to `limit` of the facts that wait for these user agents or tracks, when both are known; concurrent transactions never take the
 * same fact.
 */
export async function takePendingFacts(
  tx: Transaction,
  { agents, tracks }: AwaitedNames,
  limit: number,
): Promise<ServedBytes[]> {
  const { rows } = await tx.query<Columns<'pending_fact', 'payload', { payload: ServedBytes }>>(
    `with taken as (
       select p.fact_id from pending_fact p join user_agent u on u.digest = p.user_agent_digest
       where (p.user_agent_digest = any($1) or p.track = any($3))
         and (p.track is null or ${isTrackWhole('p.track')}) order by p.fact_id limit $2 for update of p)
     delete from pending_fact using taken where pending_fact.fact_id = taken.fact_id returning payload`,
    [agents, limit, tracks],
  );
  return rows.map((row) => row.payload);
}

/** Stores the judgements of facts that waited. */
export async function saveJudgements(
  tx: Transaction,
  facts: readonly ClassifiedFact[],
  listsVersion: string,
): Promise<void> {
  await tx.query(
    `update fact set judgement = judged.judgement, judged_by = $3
     from unnest($1::text[], $2::text[]) as judged (fact_id, judgement)
     where fact.fact_id = judged.fact_id and fact.fact_id = any($1)`,
    [
      facts.map(({ fact }) => fact.fact_id),
      facts.map(({ judgement }) => judgement),
      `${methodologyVersion} ${listsVersion}`,
    ],
  );
}
