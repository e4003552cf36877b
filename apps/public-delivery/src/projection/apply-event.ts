import type { DomainEvent } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import {
  enclosureFileName,
  episodeAttributesSchema,
  podcastAttributesSchema,
  readProduction,
  uploadAttributesSchema,
} from './projected.ts';

/** Makes the public alias of an episode; called once per episode, the first result is kept. */
export type MintAlias = (episodeId: string) => string;

async function applyPodcast(tx: Transaction, { after, workspace_id, occurred_at }: DomainEvent): Promise<void> {
  const attributes = podcastAttributesSchema.parse(after.attributes);
  await tx.query(
    `insert into podcast (id, workspace_id, version, state, subdomain, attributes, changed_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update set version = excluded.version, state = excluded.state, subdomain = excluded.subdomain,
       attributes = excluded.attributes,
       changed_at = case when (podcast.state, podcast.attributes) is distinct from (excluded.state, excluded.attributes)
         then excluded.changed_at else podcast.changed_at end
     where podcast.version < excluded.version`,
    [after.id, workspace_id, after.version, after.lifecycle_state, attributes.subdomain, attributes, occurred_at],
  );
}

async function applyEpisode(
  tx: Transaction,
  { after, workspace_id, occurred_at }: DomainEvent,
  mintAlias: MintAlias,
): Promise<void> {
  const { current_production_id: productionId, ...attributes } = episodeAttributesSchema.parse(after.attributes);
  const isPublic = after.lifecycle_state === 'published';
  const publishedAt = attributes.published_at ?? (isPublic ? occurred_at : null);
  await tx.query(
    `insert into episode (id, workspace_id, podcast_id, version, state, attributes, production_id, published_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, case when $9 then $10::timestamptz end)
     on conflict (id) do update set podcast_id = excluded.podcast_id, version = excluded.version, state = excluded.state,
       attributes = excluded.attributes, production_id = excluded.production_id,
       published_at = coalesce(episode.published_at, excluded.published_at),
       changed_at = case when ($9 or episode.state = 'published')
           and (episode.state, episode.attributes, episode.production_id)
             is distinct from (excluded.state, excluded.attributes, excluded.production_id)
         then $10::timestamptz else episode.changed_at end
     where episode.version < excluded.version`,
    [
      after.id,
      workspace_id,
      attributes.podcast_id,
      after.version,
      after.lifecycle_state,
      attributes,
      productionId,
      publishedAt,
      isPublic,
      occurred_at,
    ],
  );
  if (isPublic)
    await tx.query('insert into alias (episode_id, alias, file_name) values ($1, $2, $3) on conflict do nothing', [
      after.id,
      mintAlias(after.id),
      enclosureFileName(attributes.title),
    ]);
}

async function applyProduction(tx: Transaction, { after, occurred_at }: DomainEvent): Promise<void> {
  const { episodeId, rendition } = readProduction(after.attributes);
  await tx.query(
    `insert into production (id, episode_id, version, state, rendition_digest, rendition_bytes, duration_ms, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (id) do update set version = excluded.version, state = excluded.state, rendition_digest = excluded.rendition_digest,
       rendition_bytes = excluded.rendition_bytes, duration_ms = excluded.duration_ms, changed_at = excluded.changed_at
     where production.version < excluded.version`,
    [
      after.id,
      episodeId,
      after.version,
      after.lifecycle_state,
      rendition?.digest,
      rendition?.sizeBytes,
      rendition?.durationMs,
      occurred_at,
    ],
  );
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

/**
 * Applies one event to the projection, once per (subject, version): an older or repeated event changes nothing. Subjects may
 * arrive in any order; what belongs together is joined when it is read. Throws `ZodError` for a shape it does not know.
 */
export async function applyEvent(pool: Pool, event: DomainEvent, mintAlias: MintAlias): Promise<void> {
  await transaction(pool, async (tx) => {
    switch (event.subject.type) {
      case 'podcasts':
        return applyPodcast(tx, event);
      case 'episodes':
        return applyEpisode(tx, event, mintAlias);
      case 'productions':
        return applyProduction(tx, event);
      case 'uploads':
        return applyUpload(tx, event);
    }
  });
}
