import { createHash } from 'node:crypto';
import type { DomainEvent } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { chaptersTagBytes } from '../../progressive/render-header.ts';
import { tagChapters } from '../../progressive/tag-chapters.ts';
import { createTimeMap } from '../../arrangements/time-map.ts';
import { chaptersContentType, renderChaptersDocument, shiftedBy } from '../../companions/chapters-document.ts';
import { presentAgain } from '../../presentations/presented-episode-table.ts';
import { saveSegmentTracks } from '../../presentations/segment-track-table.ts';
import { reviseFeed, type AnnouncementPorts } from './feed-revision.ts';
import { enclosureFileName, episodeAttributesSchema, type Chapters, type EpisodeAttributes } from '../projected.ts';
import { artworkFiles, replaceShownFiles, transcriptFiles, type ShownFile } from '../../companions/shown-file-table.ts';

/** Makes the public alias of an episode; called once per episode, the first result is kept. */
type MintAlias = (episodeId: string) => string;

/** Dependencies of applying an event. */
export interface ApplyOptions {
  readonly mintAlias: MintAlias;
  readonly announcements: AnnouncementPorts;
}

function chaptersFile(chapters: Chapters, shiftMs: number): ShownFile {
  const document = renderChaptersDocument(chapters, shiftedBy(shiftMs));
  const digest = createHash('sha256').update(document).digest('hex');
  const sizeBytes = document.length;
  return { kind: 'chapters', digest, name: 'json', contentType: chaptersContentType, sizeBytes, document };
}

/** Makes events of an episode and of its audio wait for each other, so that each sees whether the feed shows its change. */
export async function lockEpisode(tx: Transaction, episodeId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('delivery.episode.' || $1, 0))`, [episodeId]);
}

/** Stores the newest version of an episode; undefined when that is known already. `shown` says whether the feed shows a difference. */
async function storeEpisode(
  tx: Transaction,
  { after, workspace_id, occurred_at }: DomainEvent,
  parsed: EpisodeAttributes,
  chaptersDigest: string | undefined,
): Promise<{ readonly podcast_id: string; readonly shown: boolean } | undefined> {
  const { current_production_id, plays_end_before, chapters = [], markers = [], ...attributes } = parsed;
  const publishedAt = after.lifecycle_state === 'published' ? occurred_at : null;
  const { rows } = await tx.query<Columns<'episode', 'podcast_id'> & { shown: boolean }>(
    `with before as (
       select state, attributes, production_id, chapters_digest from episode where id = $1
     ), done as (
       insert into episode (id, workspace_id, podcast_id, version, state, attributes, production_id, published_at,
         chapters, chapters_digest, chapters_tag_bytes, markers, plays_end_before)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
       on conflict (id) do update set podcast_id = excluded.podcast_id, version = excluded.version, state = excluded.state,
         attributes = excluded.attributes, production_id = excluded.production_id,
         published_at = coalesce(episode.published_at, excluded.published_at),
         chapters = excluded.chapters, chapters_digest = excluded.chapters_digest,
         chapters_tag_bytes = excluded.chapters_tag_bytes, markers = excluded.markers,
         plays_end_before = excluded.plays_end_before
       where episode.version < excluded.version
       returning podcast_id, state, attributes, production_id, chapters_digest
     )
     select done.podcast_id, 'published' in (done.state, coalesce(before.state, ''))
       and (before.state, before.attributes, before.production_id, before.chapters_digest)
         is distinct from (done.state, done.attributes, done.production_id, done.chapters_digest) as shown
     from done left join before on true`,
    [
      after.id,
      workspace_id,
      attributes.podcast_id,
      after.version,
      after.lifecycle_state,
      attributes,
      current_production_id,
      attributes.published_at ?? publishedAt,
      chaptersDigest && JSON.stringify(chapters),
      chaptersDigest,
      chaptersTagBytes(tagChapters(chapters, createTimeMap([]))),
      JSON.stringify(markers),
      plays_end_before,
    ],
  );
  return rows[0];
}

export async function applyEpisode(
  tx: Transaction,
  event: DomainEvent,
  { mintAlias, announcements }: ApplyOptions,
): Promise<void> {
  const { after, occurred_at } = event;
  const attributes = episodeAttributesSchema.parse(after.attributes);
  const { title, artwork, transcripts, intro, outro, chapters = [] } = attributes;
  const file = chapters.length > 0 ? chaptersFile(chapters, intro?.duration_ms ?? 0) : undefined;
  await lockEpisode(tx, after.id);
  const stored = await storeEpisode(tx, event, attributes, file?.digest);
  if (!stored) return;
  const parts = [intro, outro].flatMap((part) => (part?.hls ? [{ segmentDigest: part.sha256, track: part.hls }] : []));
  await saveSegmentTracks(tx, event.workspace_id, parts);
  await presentAgain(tx, after.id);
  await replaceShownFiles(tx, after.id, [
    ...artworkFiles(artwork),
    ...transcriptFiles(transcripts),
    ...(file ? [file] : []),
  ]);
  if (after.lifecycle_state === 'published')
    await tx.query('insert into alias (episode_id, alias, file_name) values ($1, $2, $3) on conflict do nothing', [
      after.id,
      mintAlias(after.id),
      enclosureFileName(title),
    ]);
  if (stored.shown) await reviseFeed(tx, stored.podcast_id, occurred_at, announcements);
}
