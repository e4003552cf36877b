-- CreateTable
CREATE TABLE "podcast" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "subdomain" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "podcast_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "episode" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,
    "production_id" TEXT,
    "published_at" TIMESTAMPTZ(3),
    "changed_at" TIMESTAMPTZ(3),

    CONSTRAINT "episode_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "production" (
    "id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "rendition_digest" TEXT,
    "rendition_bytes" BIGINT,
    "duration_ms" BIGINT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "production_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upload" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,
    "upload_type" TEXT NOT NULL,
    "storage_key" TEXT NOT NULL,

    CONSTRAINT "upload_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alias" (
    "episode_id" TEXT NOT NULL,
    "alias" TEXT NOT NULL,
    "file_name" TEXT NOT NULL,
    "minted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "alias_pkey" PRIMARY KEY ("episode_id")
);

-- CreateTable
CREATE TABLE "header" (
    "digest" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "header_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "arrangement" (
    "id" TEXT NOT NULL,
    "short_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,
    "document" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "arrangement_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "binding" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "sequence" INTEGER NOT NULL,
    "decision_id" TEXT NOT NULL,
    "arrangement_id" TEXT NOT NULL,
    "ads" JSONB NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "binding_pkey" PRIMARY KEY ("listener_key","episode_id","sequence")
);

-- CreateIndex
CREATE INDEX "podcast_subdomain_idx" ON "podcast"("subdomain");

-- CreateIndex
CREATE INDEX "episode_podcast_id_idx" ON "episode"("podcast_id");

-- CreateIndex
CREATE INDEX "production_rendition_digest_idx" ON "production"("rendition_digest");

-- CreateIndex
CREATE UNIQUE INDEX "alias_alias_key" ON "alias"("alias");

-- CreateIndex
CREATE UNIQUE INDEX "arrangement_short_id_key" ON "arrangement"("short_id");

-- CreateIndex
CREATE UNIQUE INDEX "binding_decision_id_key" ON "binding"("decision_id");

-- What was delivered stays as it was, for ever (Prisma has no word for triggers).
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER "alias_append_only" BEFORE UPDATE OR DELETE ON "alias" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "header_append_only" BEFORE UPDATE OR DELETE ON "header" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "arrangement_append_only" BEFORE UPDATE OR DELETE ON "arrangement" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "binding_append_only" BEFORE UPDATE OR DELETE ON "binding" FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
