import type { Pool } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';
import { playedProduction } from './content-table.ts';
import type { EnclosureRow } from './feed-table.ts';
import type { Chapters, PodcastAttributes, ShownEpisode } from './projected.ts';

/** A published episode with audio here, as its player shows it. */
export interface PlayerEpisode extends EnclosureRow {
  readonly attributes: ShownEpisode;
  readonly podcast: PodcastAttributes;
  readonly chapterTitles: readonly string[];
  /** Its podcast is switched to HLS, with pictures or without, and it is made ready for it. */
  readonly hasPresentation: boolean;
}

type PlayerRow = Columns<
  'episode',
  'state' | 'attributes' | 'chapters',
  { attributes: ShownEpisode; chapters: Chapters | null }
> &
  Columns<'alias', 'alias' | 'file_name'> & {
    readonly podcast_state: Rows['podcast']['state'];
    readonly podcast: PodcastAttributes;
    readonly rendition_bytes: Rows['production']['rendition_bytes'];
    readonly presented: Rows['presented_episode']['digest'];
  };

/** How an address names the episode. */
export type PlayerAddress =
  | { readonly kind: 'alias'; readonly alias: string }
  | { readonly kind: 'site'; readonly subdomain: string; readonly episodeId: string };

const conditions: Readonly<Record<PlayerAddress['kind'], string>> = {
  alias: 'a.alias = $1',
  site: `p.attributes->>'subdomain' = $1 and e.id = $2`,
};

/** 'ended' when the episode or its podcast was archived, undefined when nothing here plays it in public. */
export async function findPlayerEpisode(
  pool: Pool,
  address: PlayerAddress,
): Promise<PlayerEpisode | 'ended' | undefined> {
  const { kind } = address;
  const { rows } = await pool.query<PlayerRow>({
    name: `player_episode_by_${kind}`,
    text: `select e.state, e.attributes, e.chapters, p.state as podcast_state, p.attributes as podcast, a.alias, a.file_name,
             r.rendition_bytes, h.digest as presented
           from alias a join episode e on e.id = a.episode_id join podcast p on p.id = e.podcast_id and p.authority_id is null
             ${playedProduction}
             left join presented_episode h on h.episode_id = e.id
           where ${conditions[kind]}`,
    values: kind === 'alias' ? [address.alias] : [address.subdomain, address.episodeId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const states = [row.state, row.podcast_state];
  if (states.includes('archived')) return 'ended';
  if (row.rendition_bytes === null || states.some((state) => state !== 'published')) return undefined;
  const { attributes, podcast, alias: own, file_name, rendition_bytes, chapters, presented } = row;
  const listed = (chapters ?? []).filter(({ toc }) => toc !== false);
  return {
    ...{ attributes, podcast, alias: own, file_name, rendition_bytes, clip_format: null },
    chapterTitles: listed.map(({ title }) => title),
    hasPresentation: (podcast.hls_audio === true || podcast.hls_video === true) && presented !== null,
  };
}
