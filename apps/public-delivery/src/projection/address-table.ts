import type { Pool } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';
import {
  audio,
  currentSnapshot,
  masterUrlOf,
  mayLead,
  playedProduction,
  toAudio,
  type AudioRow,
  type FoundAudio,
} from './content-table.ts';
import type { AliasRoute, WhenUnavailable } from './hosted-elsewhere.ts';

/** An address that another hosting platform chose, and what is behind it. */
export interface PlatformAddress {
  readonly state: 'active' | 'paused' | 'retired';
  readonly route: AliasRoute;
  readonly whenUnavailable: WhenUnavailable;
  /**
   * The platform's own file; undefined while no version of the episode is known, when it was revoked, when the episode or its podcast is
   * archived here, and when the authority has ended.
   */
  readonly masterUrl: string | undefined;
  /** Undefined while no version of the episode could be played. */
  readonly audio: FoundAudio | undefined;
}

type AddressRow = Columns<
  'delivery_alias',
  'route' | 'when_unavailable',
  { route: AliasRoute; when_unavailable: WhenUnavailable }
> & {
  readonly alias_state: PlatformAddress['state'];
  readonly master_url: Rows['content_snapshot']['master_url'] | null;
  readonly master_state: Rows['content_snapshot']['state'] | null;
} & { readonly [K in keyof AudioRow]: AudioRow[K] | null };

const isAudio = (row: AddressRow): row is AddressRow & AudioRow => row.id !== null;

const sourceOf = `from content_snapshot s
  where s.workspace_id = d.workspace_id and s.authority_id = d.authority_id and s.source_id = d.source_id`;

/** The episode of a source, or its podcast, is archived here: the podcast also while no version is mapped. */
const isArchived = `(
  exists (select from episode e left join podcast p on p.id = e.podcast_id
    where e.id = mapped.episode_id and e.workspace_id = d.workspace_id and (e.state = 'archived' or p.state = 'archived'))
  or exists (select from podcast p where p.authority_id = d.authority_id and p.stream_id = source.stream_id
    and p.workspace_id = d.workspace_id and p.state = 'archived'))`;

/**
 * Joins what an alias `d` serves as `served`, at a time (SQL): presentation, source version and audio, with the episode and its podcast. It is
 * what the routes answer (progressive/audio-routes.ts) to a listener who has not begun, wherever the rights name no countries.
 */
export const whatServes = (at: string): string => `
  left join authority_grant g on g.id = d.authority_id and g.workspace_id = d.workspace_id
  left join lateral (select s.state, s.source_version, s.stream_id ${sourceOf} ${currentSnapshot}) source on true
  left join lateral (select s.episode_id ${sourceOf} and s.episode_id is not null ${currentSnapshot}) mapped on true
  left join lateral (
    select e.id as episode_id, e.podcast_id, e.attributes->>'ads' = 'none' as without_ads,
      r.rendition_digest, v.state as played_state, v.source_version as played_version,
      coalesce(v.served_until <= ${at}, false) as is_over,
      e.state = 'published' and p.state = 'published' as is_public
    from episode e
      join alias a on a.episode_id = e.id
      join podcast p on p.id = e.podcast_id
      join content_snapshot v on v.id = e.attributes->>'snapshot_id' and v.workspace_id = e.workspace_id
      ${playedProduction}
    where e.id = mapped.episode_id and e.workspace_id = d.workspace_id and 'archived' not in (e.state, p.state)
      and d.state = 'active' and d.route <> 'source'
  ) played on not played.is_public or played.rendition_digest is not null
  cross join lateral (
    select case
      when d.state = 'retired' then 'none'
      when played.is_over and played.played_state <> 'revoked' and ${mayLead} then 'master_of_played'
      when played.is_public and not played.is_over then 'ours'
      when (d.when_unavailable = 'source' or d.state = 'active' and d.route = 'source') and source.state <> 'revoked'
        and ${mayLead} and not ${isArchived} then 'master'
      else 'none' end as kind
  ) answer
  cross join lateral (
    select played.episode_id, played.podcast_id,
      case when answer.kind = 'none' then 'none'
        when answer.kind <> 'ours' then 'source'
        when d.route = 'platform_controlled' and played.without_ads is not true then 'stitched'
        else 'clean' end as presentation,
      case answer.kind when 'none' then null when 'master' then source.source_version else played.played_version end as source_version,
      case answer.kind when 'ours' then played.rendition_digest end as rendition_digest
  ) served`;

/** An address that was retired once stays so, and no later alias takes the place of an earlier one. */
export async function findPlatformAddress(
  pool: Pool,
  host: string,
  pathSlug: string,
): Promise<PlatformAddress | undefined> {
  const { rows } = await pool.query<AddressRow>({
    name: 'platform_address',
    text: `select d.state as alias_state, d.route, d.when_unavailable,
             case when ${mayLead} and not ${isArchived} then source.master_url end as master_url, source.state as master_state, audio.*
           from delivery_alias d
             left join authority_grant g on g.id = d.authority_id and g.workspace_id = d.workspace_id
             left join lateral (select s.master_url, s.state, s.stream_id ${sourceOf} ${currentSnapshot}) source on true
             left join lateral (select s.episode_id ${sourceOf} and s.episode_id is not null ${currentSnapshot}) mapped on true
             left join lateral (${audio} where e.id = mapped.episode_id and e.workspace_id = d.workspace_id) audio on true
           where d.host = $1 and d.path_slug = $2 order by (d.state = 'retired') desc, d.id limit 1`,
    values: [host, pathSlug],
  });
  const [row] = rows;
  return (
    row && {
      state: row.alias_state,
      route: row.route,
      whenUnavailable: row.when_unavailable,
      masterUrl: masterUrlOf({ source_url: row.master_url, source_state: row.master_state }),
      audio: isAudio(row) ? toAudio(row) : undefined,
    }
  );
}
