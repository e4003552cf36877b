import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import type { ImportNote } from './import-notes.ts';

/** The outcome for one item, or for the channel, which has position 0. */
export interface ImportRecord {
  /** Place in the feed, from 1. */
  readonly position: number;
  readonly guid: string;
  readonly title: string;
  readonly episodeId?: string | undefined;
  readonly productionId?: string | undefined;
  /** The reason for which there is no episode, or one without audio. */
  readonly problem?: string | undefined;
  readonly notes: readonly ImportNote[];
}

/** Saves the record of an item; the next attempt at the import replaces it. */
export async function saveImportRecord(
  pool: Pool,
  podcast: { readonly workspaceId: string; readonly podcastId: string },
  record: ImportRecord,
): Promise<void> {
  const { position, guid, title, episodeId = null, productionId = null, problem = null, notes } = record;
  await pool.query({
    name: 'save_import_item',
    text: `insert into import_item (podcast_id, position, workspace_id, guid, title, episode_id, production_id, problem, notes)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (podcast_id, position) do update set guid = excluded.guid, title = excluded.title,
             episode_id = excluded.episode_id, production_id = excluded.production_id, problem = excluded.problem, notes = excluded.notes`,
    values: [
      podcast.podcastId,
      position,
      podcast.workspaceId,
      guid,
      title,
      episodeId,
      productionId,
      problem,
      JSON.stringify(notes),
    ],
  });
}

/** State of an item. `failed`: there is no episode, or it has no audio. */
export type ImportItemState =
  'failed' | 'waiting' | 'encoding' | 'encoded' | 'scheduled' | 'published' | 'unpublished' | 'archived';

export type ImportedItemRow = Readonly<
  Columns<
    'import_item',
    'position' | 'guid' | 'title' | 'episode_id' | 'problem' | 'notes',
    { notes: readonly ImportNote[] }
  >
> & { readonly state: ImportItemState };

/** Items with their present state. The state of the episode outranks that of its first encoding. */
const items = `select i.position, i.guid, i.title, i.episode_id, i.notes,
    case
      when e.lifecycle_state in ('published', 'scheduled', 'unpublished', 'archived') then e.lifecycle_state
      when e.attributes ->> 'current_production_id' is not null then 'encoded'
      when i.problem is not null or p.lifecycle_state = 'error' then 'failed'
      when p.lifecycle_state = 'encoding' then 'encoding'
      else 'waiting'
    end as state,
    coalesce(i.problem, case when p.lifecycle_state = 'error' then p.attributes #>> '{problem,detail}' end) as problem
  from import_item i
  left join resource e on e.id = i.episode_id
  left join resource p on p.id = i.production_id
  where i.podcast_id = $1`;

/** Items after a position, in the order of the feed. */
export async function listImportItems(
  pool: Pool,
  podcastId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ImportedItemRow[]> {
  const { rows } = await pool.query<ImportedItemRow>({
    name: 'list_import_items',
    text: `${items} and i.position > $2 order by i.position limit $3`,
    values: [podcastId, after, limit],
  });
  return rows;
}

/** Failed items that have an episode, which lacks its audio; `position` for one of them. */
const silentItems = `select position, guid, episode_id from (${items} and i.position > 0) x
  where state = 'failed' and episode_id is not null and ($2::int is null or position = $2)`;

/** Failed items whose episodes lack their audio, oldest first. */
export async function listSilentItems(
  pool: Pool,
  podcastId: string,
  position: number | undefined,
): Promise<readonly { readonly position: number; readonly guid: string; readonly episode_id: string }[]> {
  const { rows } = await pool.query<{ position: number; guid: string; episode_id: string }>({
    name: 'list_silent_import_items',
    text: `${silentItems} order by position desc`,
    values: [podcastId, position ?? null],
  });
  return rows;
}

/** Whether an item, or any, failed and has an episode. */
export async function hasSilentItem(
  tx: Transaction,
  podcastId: string,
  position: number | undefined,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'has_silent_import_item',
    text: `${silentItems} limit 1`,
    values: [podcastId, position ?? null],
  });
  return rowCount === 1;
}

/** Saves what became of another attempt at the audio of an item. */
export async function saveRetry(
  pool: Pool,
  podcastId: string,
  { position, productionId, problem }: Pick<ImportRecord, 'position' | 'productionId' | 'problem'>,
): Promise<void> {
  await pool.query({
    name: 'save_import_retry',
    text: `update import_item set production_id = coalesce($3, production_id), problem = $4 where podcast_id = $1 and position = $2`,
    values: [podcastId, position, productionId ?? null, problem ?? null],
  });
}

/** Counts the items in each state. */
export async function countImportItems(
  pool: Pool,
  podcastId: string,
): Promise<{ readonly counts: ReadonlyMap<ImportItemState, number>; readonly created: number }> {
  const { rows } = await pool.query<{ state: ImportItemState; n: number; created: number }>({
    name: 'count_import_items',
    text: `select state, count(*)::int as n, count(episode_id)::int as created from (${items} and i.position > 0) x group by state`,
    values: [podcastId],
  });
  return {
    counts: new Map(rows.map(({ state, n }) => [state, n])),
    created: rows.reduce((sum, row) => sum + row.created, 0),
  };
}

export interface NoteCount {
  readonly kind: ImportNote['kind'];
  readonly field: string;
  /** Items with such a note. */
  readonly items: number;
}

/** Counts the notes by field, the most frequent first. */
export async function countImportNotes(pool: Pool, podcastId: string): Promise<NoteCount[]> {
  const { rows } = await pool.query<NoteCount>({
    name: 'count_import_notes',
    text: `select note ->> 'kind' as kind, note ->> 'field' as field, count(distinct i.position)::int as items
           from import_item i cross join lateral jsonb_array_elements(i.notes) as note
           where i.podcast_id = $1 and i.position > 0
           group by 1, 2 order by 3 desc, 1, 2 limit 200`,
    values: [podcastId],
  });
  return rows;
}

/** The notes on the channel. */
export async function findChannelNotes(pool: Pool, podcastId: string): Promise<readonly ImportNote[]> {
  const { rows } = await pool.query<Columns<'import_item', 'notes', { notes: ImportNote[] }>>({
    name: 'find_channel_notes',
    text: 'select notes from import_item where podcast_id = $1 and position = 0',
    values: [podcastId],
  });
  return rows[0]?.notes ?? [];
}

/** State of the last job that imported a podcast, or tried failed items again. */
export async function findImportJobState(pool: Pool, podcastId: string): Promise<string | undefined> {
  const { rows } = await pool.query<Columns<'job', 'state'>>({
    name: 'find_import_job_state',
    text: `select state from job where subject_id = $1 and kind in ('import_feed', 'retry_import') order by created_at desc limit 1`,
    values: [podcastId],
  });
  return rows[0]?.state;
}
