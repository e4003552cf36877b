-- CreateIndex
CREATE INDEX "binding_clean_started_at_idx" ON "binding"("started_at") WHERE "ads" = '{}'::jsonb;

-- A binding without ads says nothing that its arrangement does not say; one with ads stays as it was.
DROP TRIGGER "binding_append_only" ON "binding";
CREATE TRIGGER "binding_append_only" BEFORE UPDATE ON "binding" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "binding_with_ads_stays" BEFORE DELETE ON "binding" FOR EACH ROW WHEN (OLD."ads" <> '{}'::jsonb)
    EXECUTE FUNCTION "refuse_change"();
