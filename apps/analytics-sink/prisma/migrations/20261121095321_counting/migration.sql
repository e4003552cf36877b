-- CreateTable
CREATE TABLE "user_agent" (
    "digest" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "user_agent_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "layout" (
    "digest" TEXT NOT NULL,
    "arrangement_id" TEXT NOT NULL,
    "total_bytes" BIGINT NOT NULL,
    "parts" JSONB NOT NULL,

    CONSTRAINT "layout_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "fact" (
    "fact_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "layout_digest" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "requested" int8multirange NOT NULL,
    "written" int8multirange NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,
    "listener_key" TEXT NOT NULL,
    "previous_listener_key" TEXT,
    "address_key" TEXT NOT NULL,
    "address_verdict" TEXT NOT NULL,
    "user_agent_digest" TEXT,
    "prefetch" BOOLEAN NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "late" BOOLEAN NOT NULL,
    "lists_version" TEXT NOT NULL,
    "judgement" TEXT,
    "judged_by" TEXT,

    CONSTRAINT "fact_pkey" PRIMARY KEY ("fact_id")
);

-- CreateTable
CREATE TABLE "pending_fact" (
    "fact_id" TEXT NOT NULL,
    "user_agent_digest" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "payload" JSON NOT NULL,

    CONSTRAINT "pending_fact_pkey" PRIMARY KEY ("fact_id")
);

-- CreateTable
CREATE TABLE "listener_episode" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "previous_listener_key" TEXT,

    CONSTRAINT "listener_episode_pkey" PRIMARY KEY ("listener_key","episode_id")
);

-- CreateTable
CREATE TABLE "served_request" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "arrangement_id" TEXT NOT NULL,
    "layout_digest" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "written" int8multirange NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "user_agent_digest" TEXT NOT NULL,

    CONSTRAINT "served_request_pkey" PRIMARY KEY ("listener_key","episode_id","request_id")
);

-- CreateTable
CREATE TABLE "session" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "window_on" DATE NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "counted" BOOLEAN NOT NULL,
    "arrangement_id" TEXT,
    "credited_ms" BIGINT NOT NULL,
    "content_ms" BIGINT NOT NULL,
    "duplicate_arrangements" INTEGER NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "user_agent_digest" TEXT NOT NULL,
    "methodology_version" TEXT NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("listener_key","episode_id","window_on")
);

-- CreateTable
CREATE TABLE "ad_delivered" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "window_on" DATE NOT NULL,
    "break_key" TEXT NOT NULL,
    "slot" INTEGER NOT NULL,
    "creative_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "serving_id" TEXT NOT NULL,

    CONSTRAINT "ad_delivered_pkey" PRIMARY KEY ("listener_key","episode_id","window_on","break_key","slot","creative_id")
);

-- CreateTable
CREATE TABLE "download_hour" (
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "downloads" BIGINT NOT NULL,

    CONSTRAINT "download_hour_pkey" PRIMARY KEY ("workspace_id","podcast_id","episode_id","hour")
);

-- CreateTable
CREATE TABLE "restatement" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "old" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "restatement_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "fact_at_idx" ON "fact"("at");

-- CreateIndex
CREATE INDEX "pending_fact_user_agent_digest_idx" ON "pending_fact"("user_agent_digest");

-- CreateIndex
CREATE INDEX "pending_fact_started_at_idx" ON "pending_fact"("started_at");

-- CreateIndex
CREATE INDEX "listener_episode_previous_listener_key_episode_id_idx" ON "listener_episode"("previous_listener_key", "episode_id");

-- CreateIndex
CREATE INDEX "session_workspace_id_podcast_id_started_at_idx" ON "session"("workspace_id", "podcast_id", "started_at");

-- CreateIndex
CREATE INDEX "ad_delivered_workspace_id_podcast_id_started_at_idx" ON "ad_delivered"("workspace_id", "podcast_id", "started_at");

-- CreateIndex
CREATE INDEX "ad_delivered_workspace_id_campaign_id_started_at_idx" ON "ad_delivered"("workspace_id", "campaign_id", "started_at");

-- CreateIndex
CREATE INDEX "ad_delivered_workspace_id_line_item_id_started_at_idx" ON "ad_delivered"("workspace_id", "line_item_id", "started_at");

-- CreateIndex
CREATE INDEX "download_hour_workspace_id_podcast_id_hour_idx" ON "download_hour"("workspace_id", "podcast_id", "hour");
