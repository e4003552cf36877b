import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { breakPlanSchema, haltScopeSchema, type BreakPlan, type HaltScope } from './break-plan.ts';
import { listDeliveryBounds, type DeliveryBounds } from './policy-table.ts';
import type { Markers } from './projected.ts';

/** An episode with its podcast and workspace. */
export interface EpisodeIds {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
}

/**
 * Selects columns of the break plan `b` of an episode: that of an episode set before that of its show, of a network that the show lies in, of
 * any other network, and of the whole workspace. Plans that name a unit go before the unit's default, the newest one first. Only active
 * units and published plans whose time has come count. The parts of `of` are SQL.
 */
export const selectBreakPlan = (columns: string, of: { readonly [K in keyof EpisodeIds | 'at']: string }): string => `
  with recursive around as (
    select id, kind, parent_id, default_break_plan from inventory_unit
    where workspace_id = ${of.workspaceId} and state = 'active'
      and (kind = 'episode_set' and episode_ids @> array[${of.episodeId}] or kind = 'show' and podcast_id = ${of.podcastId})
    union
    select u.id, u.kind, u.parent_id, u.default_break_plan from inventory_unit u join around a on u.id = a.parent_id
    where u.workspace_id = ${of.workspaceId} and u.state = 'active'
  ), covering as (
    select id, default_break_plan, case kind when 'episode_set' then 0 when 'show' then 1 else 2 end as level from around
    union all
    select id, default_break_plan, 3 from inventory_unit
    where workspace_id = ${of.workspaceId} and state = 'active' and kind = 'network'
    union all
    select null, null, 4
  )
  select ${columns}
  from break_plan b join covering c
    on c.id = any(b.inventory_unit_ids) or c.default_break_plan = b.id or c.level = 4 and b.inventory_unit_ids = '{}'
  where b.workspace_id = ${of.workspaceId} and b.state = 'published' and b.effective_at <= ${of.at}
  order by c.level, coalesce(c.id = any(b.inventory_unit_ids), false) desc, b.effective_at desc, b.id desc
  limit 1`;

export async function findBreakPlan(
  pool: Pool,
  { workspaceId, podcastId, episodeId }: EpisodeIds,
  at: Date,
): Promise<BreakPlan | undefined> {
  const of = { workspaceId: '$1', podcastId: '$2', episodeId: '$3', at: '$4' };
  const { rows } = await pool.query<Columns<'break_plan', 'attributes'>>({
    name: 'break_plan',
    text: selectBreakPlan('b.attributes', of),
    values: [workspaceId, podcastId, episodeId, at],
  });
  return rows[0] && breakPlanSchema.parse(rows[0].attributes);
}

/** An episode as a decision about its ads must know it. */
export interface AdContext {
  readonly plan: BreakPlan | undefined;
  /** In content time. */
  readonly markers: Markers;
  /** [start, end) in milliseconds of the content. */
  readonly silences: readonly (readonly [number, number])[];
  /** LUFS of the content. */
  readonly loudness: number | undefined;
  /** BCP 47, of the podcast. */
  readonly language: string | undefined;
  readonly explicit: boolean;
  /** Of the podcast. */
  readonly categories: readonly string[];
  /** The podcast also plays by HLS, of sound alone or with pictures, so its ads must have tracks. */
  readonly hlsAudio: boolean;
  readonly hlsVideo: boolean;
  /** Of the policies that hold for the podcast. */
  readonly bounds: readonly DeliveryBounds[];
}

type ContextRow = Columns<'episode', 'markers', { markers: Markers | null }> &
  Columns<'production', 'silences' | 'loudness', { silences: [number, number][] | null }> & {
    readonly language: string | null;
    readonly explicit: boolean;
    readonly categories: string[];
    readonly hls_audio: boolean;
    readonly hls_video: boolean;
  };

export async function getAdContext(pool: Pool, place: EpisodeIds, at: Date): Promise<AdContext> {
  const [{ rows }, plan, bounds] = await Promise.all([
    pool.query<ContextRow>({
      name: 'ad_context',
      text: `select e.markers, r.silences, r.loudness, p.attributes->>'language' as language,
               coalesce((e.attributes->'explicit')::boolean, (p.attributes->'explicit')::boolean, false) as explicit,
               coalesce(p.attributes->'categories', '[]') as categories,
               coalesce((p.attributes->'hls_audio')::boolean, false) as hls_audio,
               coalesce((p.attributes->'hls_video')::boolean, false) as hls_video
             from episode e join podcast p on p.id = e.podcast_id left join production r on r.id = e.production_id
             where e.id = $1`,
      values: [place.episodeId],
    }),
    findBreakPlan(pool, place, at),
    listDeliveryBounds(pool, place.workspaceId, place.podcastId),
  ]);
  const [row] = rows;
  return {
    plan,
    markers: row?.markers ?? [],
    silences: row?.silences ?? [],
    loudness: row?.loudness ?? undefined,
    language: row?.language ?? undefined,
    explicit: row?.explicit ?? false,
    categories: row?.categories ?? [],
    hlsAudio: row?.hls_audio ?? false,
    hlsVideo: row?.hls_video ?? false,
    bounds,
  };
}

/** The halts of a workspace that were not released. */
export async function listHalts(pool: Pool, workspaceId: string): Promise<HaltScope[]> {
  const { rows } = await pool.query<Columns<'serving_halt', 'scope'>>({
    name: 'halts',
    text: `select scope from serving_halt where workspace_id = $1 and state = 'active'`,
    values: [workspaceId],
  });
  return rows.map(({ scope }) => haltScopeSchema.parse(scope));
}
