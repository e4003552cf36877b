-- AlterTable
ALTER TABLE "session" ADD COLUMN     "app" TEXT NOT NULL DEFAULT 'unknown',
ADD COLUMN     "device" TEXT NOT NULL DEFAULT 'unknown',
ADD COLUMN     "platform" TEXT NOT NULL DEFAULT 'unknown';

-- CreateTable
CREATE TABLE "download_audience_hour" (
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "downloads" BIGINT NOT NULL,

    CONSTRAINT "download_audience_hour_pkey" PRIMARY KEY ("workspace_id","podcast_id","episode_id","hour","country","region","app","device","platform")
);

-- CreateIndex
CREATE INDEX "download_audience_hour_workspace_id_podcast_id_hour_idx" ON "download_audience_hour"("workspace_id", "podcast_id", "hour");

-- CreateIndex
CREATE INDEX "session_workspace_id_podcast_id_episode_id_started_at_idx" ON "session"("workspace_id", "podcast_id", "episode_id", "started_at");

-- What was counted before keeps its place: nobody noted what it was downloaded with.
INSERT INTO "download_audience_hour"
SELECT "workspace_id", "podcast_id", "episode_id", date_trunc('hour', "started_at", 'UTC'), "country", "region", "app", "device", "platform", count(*)
FROM "session" WHERE "counted" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
