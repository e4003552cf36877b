-- CreateTable
CREATE TABLE "feed" (
    "podcast_id" TEXT NOT NULL,
    "subdomain" TEXT,
    "state" TEXT,
    "new_feed_url" TEXT,
    "revision" UUID NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "feed_pkey" PRIMARY KEY ("podcast_id")
);

-- Feeds that are public already; the rest of their state comes with the next event.
INSERT INTO "feed" ("podcast_id", "subdomain", "state", "revision", "changed_at")
SELECT p."id", p."subdomain", p."state", gen_random_uuid(), greatest(p."changed_at", (SELECT max(e."changed_at") FROM "episode" e WHERE e."podcast_id" = p."id"))
FROM "podcast" p;

-- DropIndex
DROP INDEX "episode_podcast_id_idx";

-- DropIndex
DROP INDEX "podcast_subdomain_idx";

-- AlterTable
ALTER TABLE "episode" DROP COLUMN "changed_at",
ADD COLUMN     "chapters" JSONB,
ADD COLUMN     "chapters_digest" TEXT,
ADD COLUMN     "chapters_tag_bytes" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "podcast" DROP COLUMN "changed_at",
DROP COLUMN "subdomain";

-- AlterTable
ALTER TABLE "production" DROP COLUMN "changed_at";

-- CreateTable
CREATE TABLE "announcement" (
    "podcast_id" TEXT NOT NULL,
    "port" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL,

    CONSTRAINT "announcement_pkey" PRIMARY KEY ("podcast_id","port")
);

-- CreateTable
CREATE TABLE "shown_file" (
    "kind" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "storage_key" TEXT,
    "document" BYTEA,

    CONSTRAINT "shown_file_pkey" PRIMARY KEY ("kind","digest","subject_id","name")
);

-- CreateTable
CREATE TABLE "media_clip" (
    "id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "file_format" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "duration_ms" BIGINT NOT NULL,
    "production_id" TEXT,

    CONSTRAINT "media_clip_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "feed_subdomain_state_idx" ON "feed"("subdomain", "state");

-- CreateIndex
CREATE INDEX "announcement_due_at_idx" ON "announcement"("due_at");

-- CreateIndex
CREATE INDEX "shown_file_subject_id_idx" ON "shown_file"("subject_id");

-- CreateIndex
CREATE INDEX "media_clip_episode_id_idx" ON "media_clip"("episode_id");

-- CreateIndex
CREATE INDEX "episode_podcast_id_published_at_id_idx" ON "episode"("podcast_id", "published_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "episode_production_id_idx" ON "episode"("production_id");
