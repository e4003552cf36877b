-- Partial indexes over the versioned store: each serves one question that is asked often of few rows.

-- The clock asks which scheduled episodes are due; times are stored in one form (ISO 8601, UTC, milliseconds), so text sorts by time.
CREATE INDEX "resource_scheduled_episode" ON "resource"((("attributes" ->> 'publish_at')) COLLATE "C")
WHERE "resource_type" = 'episodes' AND "lifecycle_state" = 'scheduled';

-- A new episode asks whether its podcast has the GUID already.
CREATE INDEX "resource_episode_guid" ON "resource"((("attributes" ->> 'podcast_id')), (("attributes" ->> 'guid')))
WHERE "resource_type" = 'episodes';

-- The publish gate asks for the newest published episodes of a podcast.
CREATE INDEX "resource_published_episode" ON "resource"((("attributes" ->> 'podcast_id')), (("attributes" ->> 'published_at')) COLLATE "C" DESC)
WHERE "resource_type" = 'episodes' AND "lifecycle_state" = 'published';

-- The clock asks which uploads nobody used, and which temporary ones have to end; uploads that stay are in neither.
CREATE INDEX "resource_unused_upload" ON "resource"("created_at")
WHERE "resource_type" = 'uploads' AND "lifecycle_state" = 'granted';

CREATE INDEX "resource_temporary_upload" ON "resource"("created_at")
WHERE "resource_type" = 'uploads' AND "lifecycle_state" = 'received' AND "attributes" ->> 'upload_type' = 'temporary';
