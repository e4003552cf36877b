-- CreateIndex
CREATE INDEX "binding_with_ads_started_at_idx" ON "binding"("started_at") WHERE "ads" <> '{}'::jsonb;

-- A token of a play opens for at most 187 days: for 180 and what is left of the week of its key. After that nothing asks for its binding.
DROP TRIGGER "binding_with_ads_stays" ON "binding";
CREATE TRIGGER "binding_with_ads_stays" BEFORE DELETE ON "binding" FOR EACH ROW
    WHEN (OLD."ads" <> '{}'::jsonb AND OLD."started_at" > now() - interval '187 days') EXECUTE FUNCTION "refuse_change"();
