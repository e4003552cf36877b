-- Issued statements are computed again from what was known at their time, so nothing that was counted changes or goes, whatever role asks.
CREATE TRIGGER "ad_entry_is_never_emptied" BEFORE TRUNCATE ON "ad_entry" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_to_rewrite"();

-- A report of a player is counted once, when it is; of one that is counted only an erasure changes the listener's key.
CREATE TRIGGER "client_event_is_never_removed" BEFORE DELETE OR TRUNCATE ON "client_event" FOR EACH STATEMENT
    EXECUTE FUNCTION "refuse_to_rewrite"();
CREATE TRIGGER "client_event_is_counted_once" BEFORE UPDATE ON "client_event" FOR EACH ROW
    WHEN (OLD."judgement" IN ('eligible', 'excess') AND to_jsonb(OLD) - 'listener_key' IS DISTINCT FROM to_jsonb(NEW) - 'listener_key'
        OR OLD."counted_at" IS NULL AND NEW."counted_at" < date_trunc('milliseconds', now()))
    EXECUTE FUNCTION "refuse_to_rewrite"();

-- A price counts for servings by the time of their decision.
CREATE TRIGGER "ad_serving_is_never_removed" BEFORE DELETE OR TRUNCATE ON "ad_serving" FOR EACH STATEMENT
    EXECUTE FUNCTION "refuse_to_rewrite"();
CREATE TRIGGER "ad_serving_is_decided_once" BEFORE UPDATE OF "decided_at" ON "ad_serving" FOR EACH ROW
    WHEN (OLD."decided_at" IS NOT NULL AND OLD."decided_at" IS DISTINCT FROM NEW."decided_at")
    EXECUTE FUNCTION "refuse_to_rewrite"();
