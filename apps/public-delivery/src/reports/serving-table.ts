import type { Pool } from '@longwave/postgres';
import { countedAdsSchema, type CountedAds } from '../decisions/play-ads.ts';
import type { Columns } from '../generated/rows.ts';

/** One ad that a listener was given, with what was stored of it. */
export interface Serving {
  readonly decisionId: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly listenerKey: string;
  readonly ad: CountedAds[string];
  /** Playing time of the ad in this arrangement. */
  readonly adDurationMs: number | undefined;
}

type ServingRow = Columns<'binding', 'decision_id' | 'listener_key' | 'ads'> &
  Columns<'arrangement', 'workspace_id' | 'podcast_id' | 'episode_id'> & {
    readonly durations: Readonly<Record<string, number>> | null;
  };

/** All ads of the decisions. */
export async function findServings(pool: Pool, decisionIds: readonly string[]): Promise<readonly Serving[]> {
  const { rows } = await pool.query<ServingRow>({
    name: 'servings',
    text: `select b.decision_id, b.listener_key, b.ads, a.workspace_id, a.podcast_id, a.episode_id,
             (select json_object_agg(slot, ms) from (
                select a.document->'parts'->((t->>'part')::int)->>'slot' as slot, sum((t->>'dur_ms')::int) as ms
                from jsonb_array_elements(a.document->'timeline') t group by 1) as played
              where slot is not null) as durations
           from binding b join arrangement a on a.id = b.arrangement_id where b.decision_id = any($1)`,
    values: [[...new Set(decisionIds)]],
  });
  return rows.flatMap(({ decision_id: decisionId, listener_key: listenerKey, ads, ...row }) =>
    Object.entries(countedAdsSchema.parse(ads)).map(([slot, ad]) => ({
      ...{ workspaceId: row.workspace_id, podcastId: row.podcast_id, episodeId: row.episode_id },
      ...{ decisionId, listenerKey, ad, adDurationMs: row.durations?.[slot] },
    })),
  );
}
