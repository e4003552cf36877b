import type { DomainEvent } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import {
  authorityGrantSchema,
  contentSnapshotSchema,
  deliveryAliasSchema,
  servingIntentSchema,
} from '../hosted-elsewhere.ts';

/** Grants of people say nothing about what is delivered. */
export async function applyAuthorityGrant(tx: Transaction, { after, workspace_id }: DomainEvent): Promise<void> {
  if (authorityGrantSchema.parse(after.attributes).grantee.client_id === undefined) return;
  await tx.query(
    `insert into authority_grant (id, workspace_id, version, state) values ($1, $2, $3, $4)
     on conflict (id) do update set version = excluded.version, state = excluded.state
     where authority_grant.version < excluded.version`,
    [after.id, workspace_id, after.version, after.lifecycle_state],
  );
}

export async function applyDeliveryAlias(tx: Transaction, { after, workspace_id }: DomainEvent): Promise<void> {
  const { authority_id, alias, host, path_slug, target, route_policy } = deliveryAliasSchema.parse(after.attributes);
  await tx.query(
    `insert into delivery_alias (id, workspace_id, version, state, authority_id, alias, host, path_slug, source_id, route,
       when_unavailable)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (id) do update set version = excluded.version, state = excluded.state, source_id = excluded.source_id,
       route = excluded.route, when_unavailable = excluded.when_unavailable
     where delivery_alias.version < excluded.version`,
    [
      after.id,
      workspace_id,
      after.version,
      after.lifecycle_state,
      authority_id,
      alias,
      host,
      path_slug,
      target.source_id,
      route_policy.route,
      route_policy.when_unavailable,
    ],
  );
}

export async function applyContentSnapshot(tx: Transaction, { after, workspace_id }: DomainEvent): Promise<void> {
  const snapshot = contentSnapshotSchema.parse(after.attributes);
  const { authority_id, source_id, source_version, stream_id, episode_id, rendition, content } = snapshot;
  const { audio_master, rights } = content.episode;
  await tx.query(
    `insert into content_snapshot (id, workspace_id, version, state, authority_id, source_id, source_version, episode_id,
       master_url, territories, served_until, rendition_digest, rendition_bytes, duration_ms, stream_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     on conflict (id) do update set version = excluded.version, state = excluded.state, episode_id = excluded.episode_id,
       rendition_digest = excluded.rendition_digest, rendition_bytes = excluded.rendition_bytes,
       duration_ms = excluded.duration_ms
     where content_snapshot.version < excluded.version`,
    [
      after.id,
      workspace_id,
      after.version,
      after.lifecycle_state,
      authority_id,
      source_id,
      source_version,
      episode_id,
      audio_master.url,
      rights?.territories ?? [],
      rights?.until,
      rendition?.sha256,
      rendition?.size_bytes,
      rendition?.duration_ms,
      stream_id,
    ],
  );
}

/** Notes which version is to be acknowledged: the newest one alone. */
export async function applyServingIntent(tx: Transaction, { after, workspace_id }: DomainEvent): Promise<void> {
  const { authority_id, plan_digest, actions } = servingIntentSchema.parse(after.attributes);
  await tx.query(
    `insert into serving_intent (id, workspace_id, version, authority_id, plan_digest, actions, due_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp())
     on conflict (id) do update set version = excluded.version, plan_digest = excluded.plan_digest,
       actions = excluded.actions, applied_at = null, due_at = excluded.due_at
     where serving_intent.version < excluded.version`,
    [after.id, workspace_id, after.version, authority_id, plan_digest, JSON.stringify(actions)],
  );
}
