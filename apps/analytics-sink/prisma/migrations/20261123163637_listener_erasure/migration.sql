-- CreateTable
CREATE TABLE "listener_erasure" (
    "erasure_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "listener_keys" TEXT[],
    "erased" JSONB,
    "kept_listeners" INTEGER,
    "erased_at" TIMESTAMPTZ(3),

    CONSTRAINT "listener_erasure_pkey" PRIMARY KEY ("erasure_id")
);

-- CreateIndex
CREATE INDEX "listener_erasure_workspace_id_idx" ON "listener_erasure"("workspace_id");

-- CreateIndex
CREATE INDEX "client_event_listener_key_idx" ON "client_event" USING HASH ("listener_key");

-- CreateIndex
CREATE INDEX "fact_listener_key_idx" ON "fact" USING HASH ("listener_key");

-- Erasing finds the rows of a listener. Hash indexes are the smallest; few facts name an earlier key.
CREATE INDEX "fact_previous_listener_key_idx" ON "fact" USING HASH ("previous_listener_key") WHERE "previous_listener_key" IS NOT NULL;
CREATE INDEX "ad_entry_listener_key_idx" ON "ad_entry" USING HASH ("listener_key") WHERE "listener_key" IS NOT NULL;
CREATE INDEX "restatement_listener_key_idx" ON "restatement" USING HASH (("old" ->> 'listener_key'));

-- Ledgers stay written once. Whose key an entry names is no part of what it says, so an erasure may give it another one.
DROP TRIGGER "ad_entry_is_append_only" ON "ad_entry";
CREATE TRIGGER "ad_entry_is_append_only" BEFORE DELETE ON "ad_entry" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_to_rewrite"();
CREATE TRIGGER "ad_entry_changes_its_listener_alone" BEFORE UPDATE ON "ad_entry" FOR EACH ROW
    WHEN (to_jsonb(OLD) - 'listener_key' IS DISTINCT FROM to_jsonb(NEW) - 'listener_key'
        OR OLD."listener_key" IS NULL OR NEW."listener_key" IS NULL OR OLD."listener_key" = NEW."listener_key")
    EXECUTE FUNCTION "refuse_to_rewrite"();
DROP TRIGGER "anomaly_decision_is_append_only" ON "anomaly_decision";
CREATE TRIGGER "anomaly_decision_is_append_only" BEFORE DELETE ON "anomaly_decision" FOR EACH STATEMENT
    EXECUTE FUNCTION "refuse_to_rewrite"();
CREATE TRIGGER "anomaly_decision_changes_its_key_alone" BEFORE UPDATE ON "anomaly_decision" FOR EACH ROW
    WHEN (to_jsonb(OLD) - 'key' IS DISTINCT FROM to_jsonb(NEW) - 'key' OR OLD."key" = NEW."key") EXECUTE FUNCTION "refuse_to_rewrite"();
