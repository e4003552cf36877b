import path from 'node:path';
import type { Pool } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';
import type { ServingRights } from './hosted-elsewhere.ts';
import type { Artwork, Chapters, JoinedPart, Rendition, ShownEpisode } from './projected.ts';

/** A published episode of a published podcast with its audio: all that a play needs to know. */
export interface PlayableEpisode {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly publishedAt: Date;
  readonly title: string;
  readonly podcastTitle: string;
  readonly author: string;
  readonly fileName: string;
  readonly rendition: Rendition;
  /** Plays that began before were ended for everybody. */
  readonly playsEndBefore: Date | undefined;
  /** No ads are decided for it, whatever the break plans say. */
  readonly withoutAds: boolean;
  /** Undefined for an episode of our own. */
  readonly rights: ServingRights | undefined;
}

/** An episode that is not public any more: plays that were bound before may go on. */
export type HiddenEpisode = Omit<PlayableEpisode, 'rendition'>;

/** The target of an audio address. */
export type FoundAudio =
  | { readonly kind: 'ours'; readonly episode: PlayableEpisode }
  | { readonly kind: 'hidden'; readonly episode: HiddenEpisode }
  /** Audio that is hosted elsewhere. */
  | { readonly kind: 'outside'; readonly url: string }
  /** The episode or its podcast was archived. */
  | { readonly kind: 'ended' };

export type AudioRow = Columns<
  'episode',
  'workspace_id' | 'podcast_id' | 'id' | 'state' | 'published_at' | 'plays_end_before',
  // Only what has been published has an alias.
  { published_at: Date }
> &
  Columns<'alias', 'file_name'> &
  Columns<'production', 'rendition_digest' | 'rendition_bytes' | 'duration_ms'> & {
    readonly podcast_state: Rows['podcast']['state'];
    readonly title: string;
    readonly podcast_title: string;
    readonly author: string | null;
    readonly without_ads: boolean;
    readonly snapshot_id: string | null;
    readonly source_state: Rows['content_snapshot']['state'] | null;
    readonly source_url: Rows['content_snapshot']['master_url'] | null;
    readonly territories: Rows['content_snapshot']['territories'] | null;
    readonly served_until: Rows['content_snapshot']['served_until'];
    readonly clip_url: Rows['media_clip']['url'] | null;
  };

/**
 * The production `r` whose audio an episode `e` plays. A production that was deleted left its audio with the episode; another source
 * takes the rendition away, and the deletion of its clip takes the production from the episode.
 */
export const playedProduction = `left join production r on r.id = e.production_id
    and r.state in ('encoded', 'deleted') and r.rendition_digest is not null`;

/** The clip that stands in while an episode `e` has no encoded production `r`; the newest one. */
export const standInClip = `left join lateral (
    select m.url as clip_url, m.size_bytes as clip_bytes, m.duration_ms as clip_ms, m.file_format as clip_format
    from media_clip m where m.episode_id = e.id and m.state = 'active' and m.production_id is null order by m.id desc limit 1
  ) c on r.id is null`;

/** The version of a source that serves or would serve: the newest one that is ready, else the newest one. */
export const currentSnapshot = `order by (s.state = 'ready') desc, s.source_version desc limit 1`;

/** Whether an authority `g` may lead listeners to its files; one that was never projected may, because its event may come late. */
export const mayLead = `coalesce(g.state, 'active') = 'active'`;

/** The platform's own file of a version; a revoked one has none, nor has one that its authority may not lead to. */
export const masterUrlOf = (row: Pick<AudioRow, 'source_state' | 'source_url'>): string | undefined =>
  row.source_state === 'revoked' || row.source_url === null ? undefined : new URL(row.source_url).href;

/** Audio of episodes `e`. @param alias how the public address `a` is joined */
const selectAudio = (alias: 'join' | 'left join') => `
  select e.workspace_id, e.podcast_id, e.id, e.state, p.state as podcast_state, e.published_at, e.attributes->>'title' as title,
    p.attributes->>'title' as podcast_title, p.attributes->>'author' as author, a.file_name, r.rendition_digest,
    r.rendition_bytes, r.duration_ms, c.clip_url, e.plays_end_before,
    coalesce(e.attributes->>'ads' = 'none', false) as without_ads, e.attributes->>'snapshot_id' as snapshot_id,
    s.state as source_state, case when ${mayLead} then s.master_url end as source_url, s.territories, s.served_until
  from episode e
    ${alias} alias a on a.episode_id = e.id
    join podcast p on p.id = e.podcast_id
    ${playedProduction}
    ${standInClip}
    left join content_snapshot s on s.id = e.attributes->>'snapshot_id' and s.workspace_id = e.workspace_id
    left join authority_grant g on g.id = s.authority_id and g.workspace_id = s.workspace_id`;

/** Audio of episodes `e` that were public once. */
export const audio = selectAudio('join');

/** A row some of whose columns may be missing. */
type Nullable<R, K extends keyof R> = { readonly [C in keyof R]: C extends K ? R[C] | null : R[C] };

export function toAudio(row: AudioRow | undefined): FoundAudio | undefined {
  if (!row) return undefined;
  const states = [row.state, row.podcast_state];
  if (states.includes('archived')) return { kind: 'ended' };
  const episode = {
    workspaceId: row.workspace_id,
    podcastId: row.podcast_id,
    episodeId: row.id,
    publishedAt: row.published_at,
    title: row.title,
    podcastTitle: row.podcast_title,
    author: row.author ?? '',
    fileName: row.file_name,
    playsEndBefore: row.plays_end_before ?? undefined,
    withoutAds: row.without_ads,
    rights:
      row.source_state === null
        ? undefined
        : { territories: row.territories ?? [], until: row.served_until ?? undefined, masterUrl: masterUrlOf(row) },
  };
  if (states.some((state) => state !== 'published')) return { kind: 'hidden', episode };
  // The version that it serves comes in another part of the topic; until then nobody knows where it may be served.
  if (row.snapshot_id !== null && !episode.rights) return undefined;
  if (row.rendition_digest === null)
    return row.clip_url === null ? undefined : { kind: 'outside', url: new URL(row.clip_url).href };
  const rendition = {
    digest: row.rendition_digest,
    sizeBytes: Number(row.rendition_bytes),
    durationMs: Number(row.duration_ms),
  };
  return { kind: 'ours', episode: { ...episode, rendition } };
}

export async function findAudioByAlias(pool: Pool, alias: string): Promise<FoundAudio | undefined> {
  const { rows } = await pool.query<AudioRow>({
    name: 'audio_by_alias',
    text: `${audio} where a.alias = $1`,
    values: [alias],
  });
  return toAudio(rows[0]);
}

export async function findAudioByEpisode(pool: Pool, episodeId: string): Promise<FoundAudio | undefined> {
  const { rows } = await pool.query<AudioRow>({
    name: 'audio_by_episode',
    text: `${audio} where e.id = $1`,
    values: [episodeId],
  });
  return toAudio(rows[0]);
}

/**
 * An episode as its editors try it, whether or not it is public yet; undefined when it was archived, its platform has revoked it or it has no
 * file of ours.
 * @param at stands for the publication of one that is not published
 */
export async function findEditedEpisode(
  pool: Pool,
  workspaceId: string,
  episodeId: string,
  at: Date,
): Promise<PlayableEpisode | undefined> {
  const { rows } = await pool.query<Nullable<AudioRow, 'published_at' | 'file_name'>>({
    name: 'audio_of_edited_episode',
    text: `${selectAudio('left join')} where e.id = $1 and e.workspace_id = $2`,
    values: [episodeId, workspaceId],
  });
  const [row] = rows;
  if (!row || row.source_state === 'revoked' || [row.state, row.podcast_state].includes('archived')) return undefined;
  const shown = { state: 'published', podcast_state: 'published' } as const;
  const named = { published_at: row.published_at ?? at, file_name: row.file_name ?? 'preview' };
  const found = toAudio({ ...row, ...shown, ...named });
  return found?.kind === 'ours' ? found.episode : undefined;
}

/** Whose audio has a digest: several episodes, also of different workspaces, can have the same bytes. */
export interface CleanAudio {
  readonly digest: string;
  /** Undefined for an address that names the digest alone. */
  readonly episodeId: string | undefined;
}

/** A name of a statement, its condition on the episode `column` and its values. */
const narrowed = ({ digest, episodeId }: CleanAudio, name: string, column: string) =>
  episodeId === undefined
    ? { name: `${name}_by_digest`, condition: '', values: [digest] }
    : { name: `${name}_of_episode`, condition: `and ${column} = $2`, values: [digest, episodeId] };

/**
 * The episode whose own audio has this digest. Of several a published one, one of our own before one that is hosted elsewhere, and then the one
 * that was published here first: nobody chooses that time.
 */
async function findPresentAudio(pool: Pool, asked: CleanAudio): Promise<FoundAudio | undefined> {
  const { name, condition, values } = narrowed(asked, 'audio', 'e.id');
  const text = `${audio} where r.rendition_digest = $1 ${condition}
    order by (e.state = 'published' and p.state = 'published') desc, e.attributes->>'snapshot_id' is null desc,
      a.minted_at, e.id limit 1`;
  const { rows } = await pool.query<AudioRow>({ name, text, values });
  return toAudio(rows[0]);
}

type EarlierRow = AudioRow & { readonly earlier: Rendition };

/**
 * An episode that another platform hosts, with the audio of an earlier version, which plays that have begun may need: unless its platform has
 * taken that version or a later one back. Where and how long it may be served, its present version says.
 */
async function findEarlierAudio(pool: Pool, asked: CleanAudio): Promise<FoundAudio | undefined> {
  const { name, condition, values } = narrowed(asked, 'earlier_audio', 'v.episode_id');
  const text = `select audio.*, json_build_object('digest', v.rendition_digest, 'sizeBytes', v.rendition_bytes,
      'durationMs', v.duration_ms) as earlier
    from content_snapshot v
      join lateral (${audio} where e.id = v.episode_id and e.workspace_id = v.workspace_id) audio on true
    where v.rendition_digest = $1 ${condition} and v.state in ('ready', 'superseded')
      and not exists (select from content_snapshot later where later.workspace_id = v.workspace_id
        and later.authority_id = v.authority_id and later.source_id = v.source_id
        and later.source_version >= v.source_version and later.state = 'revoked')
    order by (audio.state = 'published' and audio.podcast_state = 'published') desc, v.id limit 1`;
  const { rows } = await pool.query<EarlierRow>({ name, text, values });
  const [row] = rows;
  const found = toAudio(row);
  return row && found?.kind === 'ours' ? { ...found, episode: { ...found.episode, rendition: row.earlier } } : found;
}

/** Nobody has named the episode, so nobody is led to the file of its platform. */
function withoutMaster(found: FoundAudio | undefined): FoundAudio | undefined {
  if (found?.kind !== 'ours' || !found.episode.rights) return found;
  return { ...found, episode: { ...found.episode, rights: { ...found.episode.rights, masterUrl: undefined } } };
}

/** The episode whose own audio has this digest, or had it while another platform's earlier version served. */
export async function findCleanAudio(pool: Pool, asked: CleanAudio): Promise<FoundAudio | undefined> {
  const present = await findPresentAudio(pool, asked);
  const found = present?.kind === 'ours' ? present : ((await findEarlierAudio(pool, asked)) ?? present);
  return asked.episodeId === undefined ? withoutMaster(found) : found;
}

/** The parts that are joined around the audio of an episode, and the fields of its tag. */
export interface Composition {
  readonly intro: JoinedPart | undefined;
  readonly outro: JoinedPart | undefined;
  /** In content time. */
  readonly chapters: Chapters;
  /** Of the episode, else of its podcast. */
  readonly artwork: Artwork | undefined;
  /** Number of the episode. */
  readonly track: number | undefined;
  /** Page of the episode, else of its podcast. */
  readonly page: string | undefined;
  /** How long the content fades at a break that lies in no silence; 0: not at all. */
  readonly breakFadeMs: number;
  /** [start, end) in milliseconds of the content. */
  readonly silences: readonly (readonly [number, number])[];
}

export async function getComposition(pool: Pool, episodeId: string): Promise<Composition> {
  const { rows } = await pool.query<{ [K in keyof Composition]: Composition[K] | null }>({
    name: 'composition',
    text: `select e.attributes->'intro' as intro, e.attributes->'outro' as outro, e.chapters,
             coalesce(e.attributes->'artwork', p.attributes->'artwork') as artwork,
             (e.attributes->>'number')::int as track, coalesce(e.attributes->>'link', p.attributes->>'link') as page,
             (p.attributes->>'break_fade_ms')::int as "breakFadeMs", r.silences
           from episode e join podcast p on p.id = e.podcast_id left join production r on r.id = e.production_id where e.id = $1`,
    values: [episodeId],
  });
  const { intro, outro, chapters, artwork, track, page, breakFadeMs, silences } = rows[0] ?? {};
  return {
    intro: intro ?? undefined,
    outro: outro ?? undefined,
    chapters: chapters ?? [],
    artwork: artwork ?? undefined,
    track: track ?? undefined,
    page: page ?? undefined,
    breakFadeMs: breakFadeMs ?? 0,
    silences: silences ?? [],
  };
}

/** Chapters and transcripts of an episode, in content time. */
export interface Companions {
  readonly chapters: Chapters;
  readonly transcripts: NonNullable<ShownEpisode['transcripts']>;
}

/** The same of an episode that is published, with when its content begins in the file without ads. */
export interface PublishedCompanions extends Companions {
  readonly episodeId: string;
  readonly introMs: number;
}

type PublishedCompanionsRow = Columns<'episode', 'id' | 'state' | 'chapters', { chapters: Chapters | null }> & {
  readonly podcast_state: Rows['podcast']['state'];
  readonly transcripts: Companions['transcripts'] | null;
  readonly intro_ms: number;
};

/** By the alias of the enclosure; 'ended' when the episode or its podcast was archived, undefined when it is not published. */
export async function findCompanionsByAlias(
  pool: Pool,
  alias: string,
): Promise<PublishedCompanions | 'ended' | undefined> {
  const { rows } = await pool.query<PublishedCompanionsRow>({
    name: 'companions_by_alias',
    text: `select e.id, e.state, p.state as podcast_state, e.chapters, e.attributes->'transcripts' as transcripts,
             coalesce((e.attributes->'intro'->>'duration_ms')::int, 0) as intro_ms
           from alias a join episode e on e.id = a.episode_id join podcast p on p.id = e.podcast_id where a.alias = $1`,
    values: [alias],
  });
  const [row] = rows;
  if (!row) return undefined;
  const states = [row.state, row.podcast_state];
  if (states.includes('archived')) return 'ended';
  if (states.some((state) => state !== 'published')) return undefined;
  const { id: episodeId, chapters, transcripts, intro_ms: introMs } = row;
  return { episodeId, introMs, chapters: chapters ?? [], transcripts: transcripts ?? [] };
}

export async function getCompanions(pool: Pool, episodeId: string): Promise<Companions> {
  const { rows } = await pool.query<{ [K in keyof Companions]: Companions[K] | null }>({
    name: 'companions',
    text: `select chapters, attributes->'transcripts' as transcripts from episode where id = $1`,
    values: [episodeId],
  });
  return { chapters: rows[0]?.chapters ?? [], transcripts: rows[0]?.transcripts ?? [] };
}

export interface PublicUpload {
  /** As in its public address: the last segment of its storage key. */
  readonly filename: string;
  readonly contentType: string;
  readonly storageKey: string;
  /** It has expired; the object is removed. */
  readonly expired: boolean;
}

/** A public upload that was not cancelled. The object store knows whether it has bytes. */
export async function findPublicUpload(pool: Pool, id: string): Promise<PublicUpload | undefined> {
  const { rows } = await pool.query<Columns<'upload', 'content_type' | 'storage_key' | 'state'>>({
    name: 'public_upload',
    text: `select content_type, storage_key, state from upload
           where id = $1 and upload_type = 'public' and state in ('granted', 'received', 'expired')`,
    values: [id],
  });
  return (
    rows[0] && {
      filename: path.posix.basename(rows[0].storage_key),
      contentType: rows[0].content_type,
      storageKey: rows[0].storage_key,
      expired: rows[0].state === 'expired',
    }
  );
}
