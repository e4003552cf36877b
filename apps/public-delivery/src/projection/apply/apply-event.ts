import type { ResourceType } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';
import { applyBreakPlan, applyInventoryUnit, applyServingHalt } from './apply-breaks.ts';
import { applyEpisode, lockEpisode, type ApplyOptions } from './apply-episode.ts';
import { applyAuthorityGrant, applyContentSnapshot, applyDeliveryAlias, applyServingIntent } from './apply-exchange.ts';
import { playedProduction } from '../content-table.ts';
import { applyPolicy } from '../policy-table.ts';
import { reviseFeed, type AnnouncementPorts } from './feed-revision.ts';
import { presentAgain } from '../../presentations/presented-episode-table.ts';
import { saveSegmentTracks, type SegmentTrack } from '../../presentations/segment-track-table.ts';
import {
  mediaClipAttributesSchema,
  podcastAttributesSchema,
  podcastPartsSchema,
  readProduction,
  uploadAttributesSchema,
} from '../projected.ts';
import { artworkFiles, replaceShownFiles } from '../../companions/shown-file-table.ts';

/** The tracks of an intro and outro, by their MP3. */
function tracksOfParts(attributes: unknown): SegmentTrack[] {
  const { intro, outro } = podcastPartsSchema.parse(attributes);
  return [intro?.segment, outro?.segment].flatMap((segment) =>
    segment?.hls ? [{ segmentDigest: segment.sha256, track: segment.hls }] : [],
  );
}

async function applyPodcast(
  tx: Transaction,
  { after, workspace_id, occurred_at }: DomainEvent,
  { announcements }: ApplyOptions,
): Promise<void> {
  const { hosted_by: hostedBy, ...attributes } = podcastAttributesSchema.parse(after.attributes);
  const hasNewTracks = await saveSegmentTracks(tx, workspace_id, tracksOfParts(after.attributes));
  const { rows } = await tx.query<{ changed: boolean }>(
    `with before as (select state, attributes from podcast where id = $1), done as (
       insert into podcast (id, workspace_id, version, state, attributes, authority_id, stream_id)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (id) do update set version = excluded.version, state = excluded.state, attributes = excluded.attributes,
         authority_id = excluded.authority_id, stream_id = excluded.stream_id
       where podcast.version < excluded.version
       returning state, attributes
     )
     select (before.state, before.attributes) is distinct from (done.state, done.attributes) as changed
     from done left join before on true`,
    [
      ...[after.id, workspace_id, after.version, after.lifecycle_state, attributes],
      ...[hostedBy?.authority_id, hostedBy?.stream_id],
    ],
  );
  if (rows[0]?.changed || hasNewTracks) await presentAgain(tx, after.id);
  if (!rows[0]?.changed) return;
  await replaceShownFiles(tx, after.id, artworkFiles(attributes.artwork));
  const { subdomain, new_feed_url: newFeedUrl } = attributes;
  // A feed without an identity is found by nobody and announced to nobody.
  if (hostedBy) return;
  const identity = { subdomain, state: after.lifecycle_state, newFeedUrl };
  await reviseFeed(tx, after.id, occurred_at, announcements, identity);
}

/** Gives the feed of an episode whose audio changed a new revision, if it shows the episode. */
async function reviseFeedOfEpisode(
  tx: Transaction,
  episodeId: string,
  occurredAt: string,
  announcements: AnnouncementPorts,
): Promise<void> {
  const { rows } = await tx.query<Columns<'episode', 'podcast_id'>>(
    `select podcast_id from episode where id = $1 and state = 'published'`,
    [episodeId],
  );
  if (rows[0]) await reviseFeed(tx, rows[0].podcast_id, occurredAt, announcements);
}

async function applyProduction(
  tx: Transaction,
  { after, workspace_id, occurred_at }: DomainEvent,
  { announcements }: ApplyOptions,
): Promise<void> {
  const { episodeId, rendition, loudness, silences, track, pictures } = readProduction(after.attributes);
  if (rendition && track) await saveSegmentTracks(tx, workspace_id, [{ segmentDigest: rendition.digest, track }]);
  await lockEpisode(tx, episodeId);
  const { rows } = await tx.query<{ changed: boolean }>(
    `with before as (
       select (state in ('encoded', 'deleted') and rendition_digest is not null) as encoded, rendition_digest, rendition_bytes, duration_ms from production where id = $1
     ), done as (
       insert into production (id, episode_id, version, state, rendition_digest, rendition_bytes, duration_ms, loudness, silences, pictures)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (id) do update set version = excluded.version, state = excluded.state,
         rendition_digest = excluded.rendition_digest, rendition_bytes = excluded.rendition_bytes,
         duration_ms = excluded.duration_ms, loudness = excluded.loudness, silences = excluded.silences,
         pictures = excluded.pictures
       where production.version < excluded.version
       returning (state in ('encoded', 'deleted') and rendition_digest is not null) as encoded, rendition_digest, rendition_bytes, duration_ms
     )
     select exists (select from episode where id = $2 and production_id = $1)
       and (coalesce(before.encoded, false) or done.encoded)
       and (before.encoded, before.rendition_digest, before.rendition_bytes, before.duration_ms)
         is distinct from (done.encoded, done.rendition_digest, done.rendition_bytes, done.duration_ms) as changed
     from done left join before on true`,
    [
      after.id,
      episodeId,
      after.version,
      after.lifecycle_state,
      rendition?.digest,
      rendition?.sizeBytes,
      rendition?.durationMs,
      loudness,
      JSON.stringify(silences),
      pictures,
    ],
  );
  if (rows[0]) await presentAgain(tx, episodeId);
  if (rows[0]?.changed) await reviseFeedOfEpisode(tx, episodeId, occurred_at, announcements);
}

async function applyMediaClip(
  tx: Transaction,
  { after, occurred_at }: DomainEvent,
  { announcements }: ApplyOptions,
): Promise<void> {
  const clip = mediaClipAttributesSchema.parse(after.attributes);
  await lockEpisode(tx, clip.episode_id);
  const { rows } = await tx.query<{ changed: boolean }>(
    `with before as (select state, file_format, url, size_bytes, duration_ms from media_clip where id = $1), done as (
       insert into media_clip (id, episode_id, version, state, file_format, url, size_bytes, duration_ms, production_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (id) do update set version = excluded.version, state = excluded.state, file_format = excluded.file_format,
         url = excluded.url, size_bytes = excluded.size_bytes, duration_ms = excluded.duration_ms,
         production_id = excluded.production_id
       where media_clip.version < excluded.version
       returning state, file_format, url, size_bytes, duration_ms
     )
     select $9::text is null
       and not exists (select from episode e ${playedProduction} where e.id = $2 and r.id is not null)
       and (before.state, before.file_format, before.url, before.size_bytes, before.duration_ms)
         is distinct from (done.state, done.file_format, done.url, done.size_bytes, done.duration_ms) as changed
     from done left join before on true`,
    [
      after.id,
      clip.episode_id,
      after.version,
      after.lifecycle_state,
      clip.file_format,
      clip.url,
      clip.size,
      clip.duration_ms,
      clip.production_id,
    ],
  );
  if (rows[0]?.changed) await reviseFeedOfEpisode(tx, clip.episode_id, occurred_at, announcements);
}

async function applyUpload(tx: Transaction, { after }: DomainEvent): Promise<void> {
  const { content_type, upload_type, storage_key } = uploadAttributesSchema.parse(after.attributes);
  await tx.query(
    `insert into upload (id, version, state, content_type, upload_type, storage_key) values ($1, $2, $3, $4, $5, $6)
     on conflict (id) do update set version = excluded.version, state = excluded.state, content_type = excluded.content_type,
       upload_type = excluded.upload_type, storage_key = excluded.storage_key
     where upload.version < excluded.version`,
    [after.id, after.version, after.lifecycle_state, content_type, upload_type, storage_key],
  );
}

type Project = (tx: Transaction, event: DomainEvent, options: ApplyOptions) => Promise<void>;

/** The projections of delivery, by the resource type of the event. */
const projections = {
  podcasts: applyPodcast,
  episodes: applyEpisode,
  productions: applyProduction,
  media_clips: applyMediaClip,
  uploads: applyUpload,
  inventory_units: applyInventoryUnit,
  break_plans: applyBreakPlan,
  serving_halts: applyServingHalt,
  policies: applyPolicy,
  authority_grants: applyAuthorityGrant,
  delivery_aliases: applyDeliveryAlias,
  content_snapshots: applyContentSnapshot,
  serving_intents: applyServingIntent,
} satisfies { readonly [T in ResourceType]?: Project };

const isProjected = (type: string): type is keyof typeof projections => Object.hasOwn(projections, type);

/**
 * Applies one event to the projection, once per (subject, version): an older or repeated event changes nothing. Subjects may
 * arrive in any order: rows are joined when they are read. Throws `ZodError` for a shape it does not know.
 */
export async function applyEvent(pool: Pool, event: DomainEvent, options: ApplyOptions): Promise<void> {
  const { type } = event.subject;
  await transaction(pool, async (tx) => {
    if (isProjected(type)) await projections[type](tx, event, options);
  });
}
