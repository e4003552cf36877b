import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { playedProduction } from '../projection/content-table.ts';
import {
  chaptersSchema,
  transcriptsSchema,
  hlsTrackSchema,
  pictureTracksSchema,
  type Chapters,
  type HlsTrack,
  type PictureTracks,
  type ShownEpisode,
} from '../projection/projected.ts';

import type { PresentationDocument } from './presentation.ts';

/**
 * Lets the presentations of an episode, or of all episodes of a podcast, be looked at again, in the transaction that changed what they are
 * made of. Episodes of shows that never had HLS are left alone.
 */
export async function presentAgain(tx: Transaction, subjectId: string): Promise<void> {
  await tx.query(
    `insert into presented_episode (episode_id, due_at)
     select e.id, clock_timestamp() from episode e join podcast p on p.id = e.podcast_id
     where (e.id = $1 or e.podcast_id = $1)
       and (coalesce((p.attributes->>'hls_audio')::boolean, false) or coalesce((p.attributes->>'hls_video')::boolean, false)
         or exists (select from presented_episode known where known.episode_id = e.id))
     order by e.id
     on conflict (episode_id) do update set due_at = excluded.due_at, attempts = 0`,
    [subjectId],
  );
}

/** An episode whose presentation is to be looked at. */
export interface DueEpisode {
  readonly episodeId: string;
  /** The digest of the presentation that it has. */
  readonly digest: string | undefined;
  /** Of that presentation, in bit/s; undefined where a release that did not store it has presented the episode. */
  readonly averageBitRate: number | undefined;
  readonly attempts: number;
  /** Until when nobody else looks; a later time in the row means that something has changed meanwhile. */
  readonly leasedUntil: Date;
}

/** Takes the episode that is due longest; nobody else takes it for `leaseMs`. */
export async function takeDueEpisode(pool: Pool, leaseMs: number): Promise<DueEpisode | undefined> {
  const { rows } = await pool.query<
    Columns<'presented_episode', 'episode_id' | 'digest' | 'average_bit_rate' | 'attempts' | 'due_at', { due_at: Date }>
  >({
    name: 'take_due_episode',
    text: `update presented_episode set due_at = clock_timestamp() + $1 * interval '1 millisecond', attempts = attempts + 1
           where episode_id = (select episode_id from presented_episode where due_at <= clock_timestamp()
                               order by due_at limit 1 for update skip locked)
           returning episode_id, digest, average_bit_rate, attempts, due_at`,
    values: [leaseMs],
  });
  const [row] = rows;
  return (
    row && {
      episodeId: row.episode_id,
      digest: row.digest ?? undefined,
      averageBitRate: row.average_bit_rate ?? undefined,
      attempts: row.attempts,
      leasedUntil: row.due_at,
    }
  );
}

/** Looks again later. Something that has changed meanwhile is looked at at once. */
export async function postponeDueEpisode(pool: Pool, due: DueEpisode, delayMs: number): Promise<void> {
  await pool.query({
    name: 'postpone_due_episode',
    text: `update presented_episode set due_at = clock_timestamp() + $3 * interval '1 millisecond'
           where episode_id = $1 and due_at = $2`,
    values: [due.episodeId, due.leasedUntil, delayMs],
  });
}

/** What an episode gets. */
export interface Presented {
  readonly digest: string;
  /** Of the sound, with the largest picture if there is one, in bit/s. */
  readonly averageBitRate: number;
  readonly document: Pick<PresentationDocument, 'pictures'>;
}

/**
 * Gives the episode its presentation, or none, with what the check had against one, unless something has changed meanwhile: then the episode
 * is due again, or another process has looked at it since. Answers whether the episode had another one before, and whether a feed that names
 * it shows something else now.
 */
export async function settleDueEpisode(
  tx: Transaction,
  due: DueEpisode,
  presented: Presented | undefined,
  findings: readonly unknown[],
): Promise<{ readonly isOther: boolean; readonly showsOther: boolean }> {
  const largest = presented?.document.pictures?.renditions.at(-1);
  const { rows } = await tx.query<{ readonly is_other: boolean; readonly shows_other: boolean }>(
    `with before as (
       select digest, average_bit_rate, video_codec, video_height from presented_episode where episode_id = $1 for update)
     update presented_episode set digest = $3, average_bit_rate = $4, findings = $5, attempts = 0,
       due_at = null, video_codec = $6, video_height = $7
     from before where episode_id = $1 and due_at = $2
     returning before.digest is distinct from $3 as is_other,
       (before.digest is null, before.average_bit_rate, before.video_codec, before.video_height)
         is distinct from ($3::text is null, $4::int, $6::text, $7::int) as shows_other`,
    [
      ...[due.episodeId, due.leasedUntil, presented?.digest ?? null, presented?.averageBitRate ?? null],
      findings.length > 0 ? JSON.stringify(findings) : null,
      ...[largest?.track.codec, largest?.height],
    ],
  );
  return { isOther: rows[0]?.is_other ?? false, showsOther: rows[0]?.shows_other ?? false };
}

/** What an episode has that a presentation is made of. */
export interface EpisodeContent {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly language: string;
  /** SHA-256 of the MP3 segments. */
  readonly own: string;
  readonly intro: string | undefined;
  readonly outro: string | undefined;
  /** By the digest of the MP3. */
  readonly tracks: ReadonlyMap<string, HlsTrack>;
  /** Where its podcast shows pictures, and all of them are made. */
  readonly pictures: PictureTracks | undefined;
  /** Its podcast has HLS of sound alone too. */
  readonly mayBeSoundAlone: boolean;
  readonly chapters: Chapters;
  readonly transcripts: NonNullable<ShownEpisode['transcripts']>;
}

/**
 * Undefined for an episode without HLS: its podcast has it switched off, it has no audio of its own, or another platform hosts it and says
 * where it may be served.
 */
export async function findEpisodeContent(pool: Pool, episodeId: string): Promise<EpisodeContent | undefined> {
  const { rows } = await pool.query<{
    readonly workspace_id: string;
    readonly podcast_id: string;
    readonly language: string;
    readonly own: string;
    readonly intro: string | null;
    readonly outro: string | null;
    readonly chapters: unknown;
    readonly transcripts: unknown;
    readonly tracks: Readonly<Record<string, unknown>> | null;
    readonly pictures: unknown;
    readonly hls_audio: boolean;
  }>({
    name: 'episode_content',
    text: `select e.workspace_id, e.podcast_id, p.attributes->>'language' as language, r.rendition_digest as own,
             e.attributes->'intro'->>'sha256' as intro, e.attributes->'outro'->>'sha256' as outro, e.chapters,
             e.attributes->'transcripts' as transcripts,
             (select json_object_agg(t.segment_digest, t.track) from segment_track t where t.workspace_id = e.workspace_id and t.segment_digest in
               (r.rendition_digest, e.attributes->'intro'->>'sha256', e.attributes->'outro'->>'sha256')) as tracks,
             case when (p.attributes->>'hls_video')::boolean then r.pictures end as pictures,
             coalesce((p.attributes->>'hls_audio')::boolean, false) as hls_audio
           from episode e join podcast p on p.id = e.podcast_id ${playedProduction}
           where e.id = $1 and r.rendition_digest is not null
             and ((p.attributes->>'hls_audio')::boolean or (p.attributes->>'hls_video')::boolean)
             and e.attributes->>'snapshot_id' is null and 'archived' not in (e.state, p.state)`,
    values: [episodeId],
  });
  const [row] = rows;
  return (
    row && {
      workspaceId: row.workspace_id,
      podcastId: row.podcast_id,
      language: row.language,
      own: row.own,
      intro: row.intro ?? undefined,
      outro: row.outro ?? undefined,
      tracks: new Map(Object.entries(row.tracks ?? {}).map(([digest, track]) => [digest, hlsTrackSchema.parse(track)])),
      pictures: row.pictures === null ? undefined : pictureTracksSchema.parse(row.pictures),
      mayBeSoundAlone: row.hls_audio,
      chapters: chaptersSchema.parse(row.chapters ?? []),
      transcripts: transcriptsSchema.parse(row.transcripts ?? []),
    }
  );
}
