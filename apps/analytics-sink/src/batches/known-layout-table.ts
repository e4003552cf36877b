import { columns, type Columns, type JsonRows, partsOf, type StoredParts } from '@longwave/audience-store';
import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import type { Pool, Transaction } from '@longwave/postgres';
import { layoutDigest } from '../counting/fact-table.ts';
import type { KnownLayout } from './row-facts.ts';

type LayoutRow = Columns<
  'known_layout',
  'name' | 'arrangement_id' | 'workspace_id' | 'podcast_id' | 'episode_id' | 'published_at'
> &
  Columns<'layout', 'total_bytes' | 'parts', { parts: StoredParts }>;

/** Layouts of these workspaces by name: the id of an arrangement or a serving. */
export async function findKnownLayouts(
  tx: Transaction,
  names: readonly string[],
  workspaceIds: readonly string[],
): Promise<Map<string, KnownLayout>> {
  if (names.length === 0) return new Map();
  const { rows } = await tx.query<LayoutRow>(
    `select k.name, k.arrangement_id, k.workspace_id, k.podcast_id, k.episode_id, k.published_at, l.total_bytes, l.parts
     from known_layout k join layout l on l.digest = k.layout_digest
     where k.name = any($1) and k.workspace_id = any($2)`,
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
 * @param names of the layouts; undefined: all
 */
export async function wakeWaitingRows(pool: Pool, names?: readonly string[]): Promise<void> {
  await pool.query(
    `update waiting_row w set is_ready = true from known_layout k
     where k.name = w.awaits and k.workspace_id = w.workspace_id and not w.is_ready ${names ? 'and w.awaits = any($1)' : ''}`,
    names ? [names] : [],
  );
}

const namesOf = (fact: ByteRangeServed): string[] => [
  fact.arrangement_id,
  ...fact.parts.flatMap((part) => (part.ad ? [part.ad.serving_id] : [])),
];

const maxRemembered = 50_000;

/**
 * Stores the layouts of arrangements and servings from our own facts, and wakes the rows that wait for them. Layouts are committed before
 * waiting rows are searched, and a waiting row is committed before its layout is searched again: whoever commits second sees the other.
 */
export function createNoteLayouts(pool: Pool): (facts: readonly DeliveryFact[]) => Promise<void> {
  const noted = new Set<string>();
  return async (facts) => {
    if (noted.size > maxRemembered) noted.clear();
    const unknown = new Map<string, ByteRangeServed>();
    for (const fact of facts)
      if (fact.kind === 'byte_range_served')
        for (const name of namesOf(fact)) if (!noted.has(name) && !unknown.has(name)) unknown.set(name, fact);
    if (unknown.size === 0) return;
    const names = [...unknown.keys()].sort();
    await pool.query(
      `insert into known_layout (${columns.known_layout})
       select ${columns.known_layout} from json_populate_recordset(null::known_layout, $1) order by name on conflict do nothing`,
      [
        JSON.stringify(
          names.map((name): JsonRows['known_layout'] => {
            const fact = unknown.get(name)!;
            const { arrangement_id, workspace_id, podcast_id, episode_id, published_at } = fact;
            const layout_digest = layoutDigest(fact);
            return { name, arrangement_id, layout_digest, workspace_id, podcast_id, episode_id, published_at };
          }),
        ),
      ],
    );
    await wakeWaitingRows(pool, names);
    for (const name of names) noted.add(name);
  };
}
