-- CreateTable
CREATE TABLE "diagnostics_access" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "action" TEXT NOT NULL,
    "decision_id" TEXT,
    "question" JSONB,
    "user_id" TEXT,
    "account_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "grant_id" TEXT,
    "purposes" TEXT[],
    "outcome" TEXT NOT NULL,

    CONSTRAINT "diagnostics_access_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "diagnostics_access_workspace_id_id_idx" ON "diagnostics_access"("workspace_id", "id");

-- What was read stays recorded, whoever asks (Prisma has no word for triggers).
CREATE FUNCTION "refuse_change_of_access"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER "diagnostics_access_append_only" BEFORE UPDATE OR DELETE ON "diagnostics_access"
    FOR EACH ROW EXECUTE FUNCTION "refuse_change_of_access"();
