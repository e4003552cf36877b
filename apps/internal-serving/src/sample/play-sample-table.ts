import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { holdErasures } from './erased-code-table.ts';
import type { PackedSample } from './packed-sample.ts';
import type { ValueCounts } from './value-counts.ts';

/** All opportunities of an episode in an hour. */
export interface EpisodeHour {
  readonly hourMs: number;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly publishedAtMs: number;
  readonly language: string;
  readonly contentCategories: readonly string[];
  readonly opportunities: number;
}

/** What is stored of an hour of a workspace. */
export interface SampledHour extends PackedSample {
  readonly workspaceId: string;
  readonly counts: ValueCounts;
  readonly episodes: readonly EpisodeHour[];
}

/**
 * Stores an hour of a workspace, once. Codes of listeners that were erased since its beginning are blank in it, and all codes where the
 * secret of its month is destroyed.
 * @param month of the hour, YYYY-MM
 */
export async function insertSampledHour(
  pool: Pool,
  { hour, month }: { readonly hour: Date; readonly month: string },
  sampled: SampledHour,
): Promise<void> {
  await transaction(pool, async (tx) => {
    await holdErasures(tx);
    // Whoever destroys the secret waits until the hour is there, and blanks it, too.
    await tx.query({
      name: 'hold-sample-secret',
      text: 'select from sample_secret where month = $1 for share',
      values: [month],
    });
    await insertHour(tx, hour, month, sampled);
  });
}

async function insertHour(tx: Transaction, hour: Date, month: string, sampled: SampledHour): Promise<void> {
  const { workspaceId, packed, listeners, counts, episodes } = sampled;
  await tx.query({
    name: 'insert-play-sample',
    text: `with sampled as (
             insert into play_sample (workspace_id, hour, packed, listeners, value_counts)
             select $1, $2, $3::bytea, array(
               select case when e.code is null and exists (select from sample_secret where month = $12) then one.code else ''::bytea end
               from unnest($4::bytea[]) with ordinality as one (code, place)
                 left join erased_code e on e.workspace_id = $1 and e.code = one.code and e.erased_at > $2
               order by one.place), $5::jsonb
             on conflict (workspace_id, hour) do nothing)
           insert into play_hour (workspace_id, hour, episode_id, podcast_id, published_at, language, content_categories, opportunities)
           select $1, $2, episode_id, podcast_id, to_timestamp(published_at / 1000.0), language,
             array(select jsonb_array_elements_text(categories)), opportunities
           from unnest($6::text[], $7::text[], $8::float8[], $9::text[], $10::jsonb[], $11::bigint[])
             as one (episode_id, podcast_id, published_at, language, categories, opportunities)
           on conflict (workspace_id, hour, episode_id) do nothing`,
    values: [
      ...[workspaceId, hour, packed, listeners, JSON.stringify(counts)],
      episodes.map((one) => one.episodeId),
      episodes.map((one) => one.podcastId),
      episodes.map((one) => one.publishedAtMs),
      episodes.map((one) => one.language),
      episodes.map((one) => JSON.stringify(one.contentCategories)),
      episodes.map((one) => one.opportunities),
      month,
    ],
  });
}

/** The counts of the stored hours of a workspace from a time until before another. */
export async function listValueCounts(
  pool: Pool,
  workspaceId: string,
  from: Date,
  to: Date,
): Promise<{ readonly hour: Date; readonly counts: ValueCounts }[]> {
  const { rows } = await pool.query<{ hour: Date; counts: ValueCounts }>({
    name: 'list-value-counts',
    text: `select hour, value_counts as counts from play_sample
           where workspace_id = $1 and hour >= $2 and hour < $3 and value_counts is not null`,
    values: [workspaceId, from, to],
  });
  return rows;
}

/** Removes the counts of hours before a time. */
export async function forgetValueCounts(pool: Pool, before: Date): Promise<void> {
  await pool.query({
    name: 'forget-value-counts',
    text: `update play_sample set value_counts = null where hour < $1 and hour >= $1::timestamptz - interval '3 days' and value_counts is not null`,
    values: [before],
  });
}

/** The sampled hours of a workspace within a time, the oldest first. */
export async function listSampledHours(pool: Pool, workspaceId: string, from: Date, to: Date): Promise<Date[]> {
  const { rows } = await pool.query<Columns<'play_sample', 'hour'>>({
    name: 'list-sampled-hours',
    text: 'select hour from play_sample where workspace_id = $1 and hour >= $2 and hour < $3 order by hour',
    values: [workspaceId, from, to],
  });
  return rows.map((row) => row.hour);
}

/** The stored plays of an hour, or undefined. */
export async function findSampledHour(pool: Pool, workspaceId: string, hour: Date): Promise<PackedSample | undefined> {
  const { rows } = await pool.query<PackedSample>({
    name: 'find-sampled-hour',
    text: 'select packed, listeners from play_sample where workspace_id = $1 and hour = $2',
    values: [workspaceId, hour],
  });
  return rows[0];
}

/** Opportunities by hour and episode within a time, the oldest first, behind a position. */
export async function listEpisodeHours(
  pool: Pool,
  range: { readonly workspaceId: string; readonly from: Date; readonly to: Date },
  after: { readonly hourMs: number; readonly episodeId: string } | undefined,
  limit: number,
): Promise<EpisodeHour[]> {
  const { rows } = await pool.query<EpisodeHour & { opportunities: string | number }>({
    name: 'list-episode-hours',
    text: `select (extract(epoch from hour) * 1000)::float8 as "hourMs", podcast_id as "podcastId", episode_id as "episodeId",
             (extract(epoch from published_at) * 1000)::float8 as "publishedAtMs", language,
             content_categories as "contentCategories", opportunities::float8 as opportunities
           from play_hour
           where workspace_id = $1 and hour >= $2 and hour < $3 and (hour, episode_id) > ($4, $5)
           order by hour, episode_id limit $6`,
    values: [
      ...[range.workspaceId, range.from, range.to],
      ...[after ? new Date(after.hourMs) : new Date(0), after?.episodeId ?? '', limit],
    ],
  });
  return rows;
}

/** Removes sampled hours before a time; their sums stay. */
export async function removeSampledHours(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove-sampled-hours',
    text: `delete from play_sample where (workspace_id, hour) in
             (select workspace_id, hour from play_sample where hour < $1 limit $2)`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}

/** Blanks all codes of hours before a time, of so many hours at most; answers how many had one. */
export async function blankCodes(tx: Transaction, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'blank-listener-codes',
    text: `update play_sample set listeners = array_fill(''::bytea, array[cardinality(listeners)])
           where (workspace_id, hour) in (
             select workspace_id, hour from play_sample
             where hour < $1 and exists (select from unnest(listeners) as one (code) where code <> ''::bytea) limit $2)`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}

/** Blanks these codes in a workspace; answers how many plays had one. */
export async function forgetCodes(pool: Pool, workspaceId: string, codes: readonly Buffer[]): Promise<number> {
  const { rows } = await pool.query<{ plays: number }>({
    name: 'forget-listener-codes',
    text: `with waiting as (delete from play_listener where workspace_id = $1 and code = any ($2::bytea[]) returning 1),
           found as (
             select hour, (select array_agg(case when code = any ($2::bytea[]) then ''::bytea else code end order by place)
                           from unnest(listeners) with ordinality as one (code, place)) as blanked,
               (select count(*) from unnest(listeners) as one (code) where code = any ($2::bytea[])) as plays
             from play_sample where workspace_id = $1 and listeners && $2::bytea[]),
           blanked as (
             update play_sample set listeners = found.blanked from found
             where play_sample.workspace_id = $1 and play_sample.hour = found.hour)
           select ((select count(*) from waiting) + coalesce((select sum(plays) from found), 0))::int as plays`,
    values: [workspaceId, codes],
  });
  return rows[0]!.plays;
}
