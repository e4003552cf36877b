import { servedBytesOf } from '@longwave/audience';
import { columns, type Columns, type JsonRows, partsOf, type StoredParts } from '@longwave/audience-store';
import type { ByteRangeServed, DeliveryFact, MediaRangeServed } from '@longwave/events';
import type { Pool, Transaction } from '@longwave/postgres';
import { layoutDigest } from '../counting/fact-table.ts';
import { isTrackWhole } from '../counting/track-table.ts';
import { awaitedOf, playedServing, trackName, type KnownLayout } from './row-facts.ts';

type LayoutRow = Columns<
  'known_layout',
  'name' | 'arrangement_id' | 'workspace_id' | 'podcast_id' | 'episode_id' | 'published_at'
> &
  Columns<'layout', 'total_bytes' | 'parts', { parts: StoredParts }>;

/** SQL: whether `l` is the layout of an MP3, or of a track that is described in whole. So no fact of another party waits for a description. */
const isDescribed = `(l.track is null or ${isTrackWhole('l.track')})`;

/** Layouts of these workspaces by name: the id of an arrangement or a serving, or `trackName`. */
export async function findKnownLayouts(
  tx: Transaction,
  names: readonly string[],
  workspaceIds: readonly string[],
): Promise<Map<string, KnownLayout>> {
  if (names.length === 0) return new Map();
  const { rows } = await tx.query<LayoutRow>(
    `select k.name, k.arrangement_id, k.workspace_id, k.podcast_id, k.episode_id, k.published_at, l.total_bytes, l.parts
     from known_layout k join layout l on l.digest = k.layout_digest
     where k.name = any($1) and k.workspace_id = any($2) and ${isDescribed}`,
    [names, workspaceIds],
  );
  return new Map(
    rows.map((row) => [
      row.name,
      {
        arrangementId: row.arrangement_id,
        workspaceId: row.workspace_id,
        podcastId: row.podcast_id,
        episodeId: row.episode_id,
        publishedAt: row.published_at,
        totalBytes: Number(row.total_bytes),
        parts: partsOf(row.parts),
      },
    ]),
  );
}

/**
 * Marks waiting rows as ready when their layout is known.
 * @param only rows that wait for layouts of these names, or for these tracks; undefined: all
 */
export async function wakeWaitingRows(
  pool: Pool,
  only?: { readonly names: readonly string[] } | { readonly tracks: readonly string[] },
): Promise<void> {
  const [condition, values] = !only
    ? ['', []]
    : 'names' in only
      ? ['and w.awaits = any($1)', [only.names]]
      : ['and l.track = any($1)', [only.tracks]];
  await pool.query(
    `update waiting_row w set is_ready = true from known_layout k join layout l on l.digest = k.layout_digest
     where k.name = any(array[w.awaits, case when w.row->>'kind' = 'delivery_event' then '${playedServing('')}' || w.awaits end])
       and k.workspace_id = w.workspace_id and not w.is_ready and ${isDescribed} ${condition}`,
    values,
  );
}

type NamingFact = ByteRangeServed | MediaRangeServed;

const namesOf = (fact: NamingFact): string[] =>
  fact.kind === 'media_range_served'
    ? [
        trackName(fact.presentation, fact.track, fact.ad?.serving_id),
        ...(fact.ad ? [playedServing(fact.ad.serving_id)] : []),
      ]
    : [fact.arrangement_id, ...fact.parts.flatMap((part) => (part.ad ? [part.ad.serving_id] : []))];

const maxRemembered = 50_000;

/** Stores what the names stand for; what a name stood for first stays. */
async function insertKnownLayouts(
  pool: Pool,
  names: readonly string[],
  factOf: ReadonlyMap<string, NamingFact>,
): Promise<void> {
  const rows = names.map((name): JsonRows['known_layout'] => {
    const fact = servedBytesOf(factOf.get(name)!);
    const { arrangement_id, workspace_id, podcast_id, episode_id, published_at } = fact;
    return {
      ...{ name, arrangement_id, layout_digest: layoutDigest(fact) },
      ...{ workspace_id, podcast_id, episode_id, published_at },
    };
  });
  await pool.query(
    `insert into known_layout (${columns.known_layout})
     select ${columns.known_layout} from json_populate_recordset(null::known_layout, $1) order by name on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/**
 * Stores the layouts of arrangements, tracks and servings from our own facts, and wakes the rows that wait for them. Layouts and descriptions
 * of tracks are committed before waiting rows are searched, and a waiting row is committed before its layout is searched again: whoever
 * commits second sees the other.
 */
export function createNoteLayouts(pool: Pool): (facts: readonly DeliveryFact[]) => Promise<void> {
  const noted = new Set<string>();
  return async (facts) => {
    if (noted.size > maxRemembered) noted.clear();
    const unknown = new Map<string, NamingFact>();
    const described = facts.flatMap((fact) => (fact.kind === 'track_described' ? [fact.track] : []));
    for (const fact of facts)
      if (fact.kind === 'byte_range_served' || fact.kind === 'media_range_served')
        for (const name of namesOf(fact)) if (!noted.has(name) && !unknown.has(name)) unknown.set(name, fact);
    const names = [...unknown.keys()].sort();
    if (names.length > 0) {
      await insertKnownLayouts(pool, names, unknown);
      await wakeWaitingRows(pool, { names: names.map(awaitedOf) });
    }
    if (described.length > 0) await wakeWaitingRows(pool, { tracks: [...new Set(described)] });
    for (const name of names) noted.add(name);
  };
}
