-- AlterTable
ALTER TABLE "operation" ADD COLUMN "provider" JSONB,
ADD COLUMN "requested_by" TEXT,
ADD COLUMN "result" JSONB,
ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

-- A service of release 0.3.0 ends only running operations, and an accepted one is new to it: after each of its commands that ends work
-- ("command" ends operations of the commands "of" in a state), this ends the accepted operations.
CREATE FUNCTION "end_accepted_for_earlier_release"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "operation" o
    SET "state" = e."state", "version" = o."version" + 1, "subject_version" = own."subject_version", "updated_at" = own."created_at",
        "problem" = CASE WHEN e."state" = 'failed' THEN (
            SELECT "payload" #> '{after,attributes,problem}' FROM "outbox" WHERE "published_at" IS NULL AND "xmin" = pg_current_xact_id()::xid LIMIT 1
        ) END
    FROM "operation" own, (VALUES
        ('podcast.set_intro', 'cancelled', ARRAY['podcast.set_intro']),
        ('podcast.set_outro', 'cancelled', ARRAY['podcast.set_outro']),
        ('podcast.clear_intro', 'cancelled', ARRAY['podcast.set_intro']),
        ('podcast.clear_outro', 'cancelled', ARRAY['podcast.set_outro']),
        ('podcast.record_intro', 'succeeded', ARRAY['podcast.set_intro']),
        ('podcast.record_outro', 'succeeded', ARRAY['podcast.set_outro']),
        ('podcast.fail_intro', 'failed', ARRAY['podcast.set_intro']),
        ('podcast.fail_outro', 'failed', ARRAY['podcast.set_outro']),
        ('podcast.complete_import', 'succeeded', ARRAY['podcast.import_feed']),
        ('podcast.fail_import', 'failed', ARRAY['podcast.import_feed']),
        ('podcast.complete_import_publication', 'succeeded', ARRAY['podcast.publish_import']),
        ('podcast.fail_import_publication', 'failed', ARRAY['podcast.publish_import']),
        ('production.delete', 'cancelled', ARRAY['production.start']),
        ('production.stop', 'cancelled', ARRAY['production.start']),
        ('production.complete', 'succeeded', ARRAY['production.start']),
        ('production.fail', 'failed', ARRAY['production.start']),
        ('batch_encoding.complete', 'succeeded', ARRAY['batch_encoding.start', 'batch_encoding.revert']),
        ('batch_encoding.fail', 'failed', ARRAY['batch_encoding.start', 'batch_encoding.revert']),
        ('batch_encoding.cancel', 'cancelled', ARRAY['batch_encoding.start', 'batch_encoding.revert']),
        ('statistics_export.record', 'succeeded', ARRAY['statistics_export.start']),
        ('statistics_export.fail', 'failed', ARRAY['statistics_export.start']),
        ('campaign.complete_cancel', 'succeeded', ARRAY['campaign.cancel']),
        ('campaign.complete_clone', 'succeeded', ARRAY['campaign.clone']),
        ('campaign.fail_clone', 'failed', ARRAY['campaign.clone']),
        ('campaign.archive', 'cancelled', ARRAY['campaign.cancel', 'campaign.clone']),
        ('creative.record_media', 'succeeded', ARRAY['creative.attach_media']),
        ('creative.fail_media', 'failed', ARRAY['creative.attach_media']),
        ('creative.archive', 'cancelled', ARRAY['creative.attach_media']),
        ('serving_plan.record_compiled', 'succeeded', ARRAY['serving_plan.compile']),
        ('serving_plan.fail', 'failed', ARRAY['serving_plan.compile'])
    ) AS e("command", "state", "of")
    WHERE own."id" = NEW."operation_id" AND e."command" = own."command_type" AND o."subject_id" = own."subject_id"
      AND o."id" <> own."id" AND o."state" = 'accepted' AND o."command_type" = ANY (e."of");
    RETURN NULL;
END
$$;

CREATE TRIGGER "receipt_of_earlier_release_ends" AFTER INSERT ON "receipt" FOR EACH ROW WHEN (NEW."kind" IS NULL)
EXECUTE FUNCTION "end_accepted_for_earlier_release"();
