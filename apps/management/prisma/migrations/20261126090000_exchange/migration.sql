-- Serving intents that are to be looked at.
CREATE TABLE "serving_intent_mark" (
    "id" BIGSERIAL NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "serving_intent_mark_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "serving_intent_mark_due_at_idx" ON "serving_intent_mark"("due_at");

-- Each message asks for single versions of its subject: the newest, an exact one, those that have not ended, one that has an episode.
CREATE INDEX "resource_content_snapshot" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'source_id')), (("attributes" ->> 'source_version')::bigint))
WHERE "resource_type" = 'content_snapshots';
CREATE INDEX "resource_living_snapshot" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'source_id')), (("attributes" ->> 'source_version')::bigint))
WHERE "resource_type" = 'content_snapshots' AND "lifecycle_state" IN ('received', 'encoding', 'ready', 'failed', 'lapsed');
CREATE INDEX "resource_mapped_snapshot" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'source_id')))
WHERE "resource_type" = 'content_snapshots' AND "attributes" ? 'episode_id';
CREATE INDEX "resource_content_revocation" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'source_id')), (("attributes" #>> '{revocation,revoke_version}')::bigint))
WHERE "resource_type" = 'content_revocations';
-- A stream asks for the newest name of its show.
CREATE INDEX "resource_snapshot_show" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'stream_id')), (("attributes" ->> 'sequence')::bigint))
WHERE "resource_type" = 'content_snapshots' AND "attributes" #>> '{content,show,title}' IS NOT NULL;
-- An episode asks whose it is, an encoding who waits for it.
CREATE INDEX "resource_snapshot_episode" ON "resource"((("attributes" ->> 'episode_id')))
WHERE "resource_type" = 'content_snapshots' AND "attributes" ? 'episode_id';
CREATE INDEX "resource_waiting_snapshot" ON "resource"((("attributes" ->> 'production_id')))
WHERE "resource_type" = 'content_snapshots' AND "lifecycle_state" = 'encoding';
CREATE INDEX "resource_delivery_alias" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'alias')))
WHERE "resource_type" = 'delivery_aliases';
CREATE INDEX "resource_surface_capability" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'source_id')))
WHERE "resource_type" = 'surface_capabilities';
-- A report asks for one of its whole key, and for the revisions that it may supersede.
CREATE INDEX "resource_platform_evidence" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" #>> '{evidence,source_label}')), (("attributes" #>> '{evidence,kind}')), "instant_of"("attributes" #>> '{evidence,period,start}'), "instant_of"("attributes" #>> '{evidence,period,end}'), (("attributes" #>> '{evidence,revision}')::bigint))
WHERE "resource_type" = 'platform_evidence';
CREATE INDEX "resource_standing_evidence" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" #>> '{evidence,source_label}')), (("attributes" #>> '{evidence,kind}')), "instant_of"("attributes" #>> '{evidence,period,start}'), "instant_of"("attributes" #>> '{evidence,period,end}'), (("attributes" #>> '{evidence,revision}')::bigint))
WHERE "resource_type" = 'platform_evidence' AND "lifecycle_state" <> 'superseded';

-- An authority has at most 10,000 aliases that are not retired.
CREATE INDEX "resource_living_alias" ON "resource"((("attributes" ->> 'authority_id')), (("attributes" ->> 'alias')))
WHERE "resource_type" = 'delivery_aliases' AND "lifecycle_state" IN ('active', 'paused');
-- A host belongs to one workspace.
CREATE INDEX "resource_alias_host" ON "resource"((("attributes" ->> 'host')))
WHERE "resource_type" = 'delivery_aliases';
-- A break plan or a halt concerns every platform of its workspace.
CREATE INDEX "resource_alias_workspace" ON "resource"("workspace_id")
WHERE "resource_type" = 'delivery_aliases' AND "lifecycle_state" IN ('active', 'paused');

-- A stream asks for its podcast.
CREATE INDEX "resource_hosted_podcast" ON "resource"((("attributes" #>> '{hosted_by,authority_id}')), (("attributes" #>> '{hosted_by,stream_id}')))
WHERE "resource_type" = 'podcasts' AND "attributes" ? 'hosted_by';

-- The clock asks what has come to its time.
CREATE INDEX "resource_current_surface" ON "resource"("instant_of"("attributes" #>> '{capability,valid_until}'))
WHERE "resource_type" = 'surface_capabilities' AND "lifecycle_state" = 'current';
CREATE INDEX "resource_ready_snapshot" ON "resource"("instant_of"("attributes" #>> '{content,episode,rights,until}'))
WHERE "resource_type" = 'content_snapshots' AND "lifecycle_state" = 'ready';
-- Each authority has its own line of them.
CREATE INDEX "resource_accepted_revocation" ON "resource"((("attributes" ->> 'authority_id')), "instant_of"("attributes" #>> '{revocation,effective_at}'), "id")
WHERE "resource_type" = 'content_revocations' AND "lifecycle_state" = 'accepted';
