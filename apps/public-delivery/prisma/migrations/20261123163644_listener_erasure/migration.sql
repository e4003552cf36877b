-- CreateTable
CREATE TABLE "listener_erasure" (
    "erasure_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "bindings" INTEGER NOT NULL,
    "erased_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "listener_erasure_pkey" PRIMARY KEY ("erasure_id")
);

-- What was bound stays as it was; to whom is forgotten on request.
DROP TRIGGER "binding_append_only" ON "binding";
CREATE TRIGGER "binding_changes_its_listener_alone" BEFORE UPDATE ON "binding" FOR EACH ROW
    WHEN (to_jsonb(OLD) - '{listener_key,address_key,app,system}'::text[]
        IS DISTINCT FROM to_jsonb(NEW) - '{listener_key,address_key,app,system}'::text[])
    EXECUTE FUNCTION "refuse_change"();
