-- CreateTable
CREATE TABLE "segment_track" (
    "workspace_id" TEXT NOT NULL,
    "segment_digest" TEXT NOT NULL,
    "track" JSONB NOT NULL,

    CONSTRAINT "segment_track_pkey" PRIMARY KEY ("workspace_id","segment_digest")
);

-- CreateTable
CREATE TABLE "presentation" (
    "digest" TEXT NOT NULL,
    "short_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "rendition_digest" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "presentation_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "presented_episode" (
    "episode_id" TEXT NOT NULL,
    "digest" TEXT,
    "findings" JSONB,
    "due_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "presented_episode_pkey" PRIMARY KEY ("episode_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "presentation_short_id_key" ON "presentation"("short_id");

-- CreateIndex
CREATE INDEX "presented_episode_due_at_idx" ON "presented_episode"("due_at");
