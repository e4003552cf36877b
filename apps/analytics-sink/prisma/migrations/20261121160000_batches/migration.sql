-- CreateTable
CREATE TABLE "batch" (
    "producer" TEXT NOT NULL,
    "batch_id" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "window_from" TIMESTAMPTZ(3) NOT NULL,
    "window_to" TIMESTAMPTZ(3) NOT NULL,
    "workspaces" TEXT[],
    "rows" JSON NOT NULL,
    "answer" JSON NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "received" INTEGER NOT NULL,
    "stored" INTEGER NOT NULL,
    "aggregated" INTEGER NOT NULL,
    "rejected" INTEGER NOT NULL,
    "waiting" INTEGER NOT NULL,
    "rejections" JSONB NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "batch_pkey" PRIMARY KEY ("producer","batch_id")
);

-- CreateTable
CREATE TABLE "batch_watermark" (
    "producer" TEXT NOT NULL,
    "sequences" int8multirange NOT NULL,
    "event_time" TIMESTAMPTZ(3),

    CONSTRAINT "batch_watermark_pkey" PRIMARY KEY ("producer")
);

-- CreateTable
CREATE TABLE "waiting_row" (
    "producer" TEXT NOT NULL,
    "batch_id" TEXT NOT NULL,
    "row_index" INTEGER NOT NULL,
    "awaits" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "row" JSON NOT NULL,
    "is_ready" BOOLEAN NOT NULL,

    CONSTRAINT "waiting_row_pkey" PRIMARY KEY ("producer","batch_id","row_index")
);

-- CreateTable
CREATE TABLE "known_layout" (
    "name" TEXT NOT NULL,
    "arrangement_id" TEXT NOT NULL,
    "layout_digest" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_layout_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "platform_reported" (
    "producer" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "claim" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "campaign_id" TEXT,
    "line_item_id" TEXT,
    "creative_id" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "country" TEXT NOT NULL,
    "quantity" BIGINT NOT NULL,

    CONSTRAINT "platform_reported_pkey" PRIMARY KEY ("producer","kind","claim")
);

-- CreateTable
CREATE TABLE "revoked_token" (
    "token_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "revoked_token_pkey" PRIMARY KEY ("token_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "batch_producer_idempotency_key_key" ON "batch"("producer", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "batch_producer_sequence_key" ON "batch"("producer", "sequence");

-- CreateIndex
CREATE INDEX "batch_state_next_attempt_at_idx" ON "batch"("state", "next_attempt_at");

-- CreateIndex
CREATE INDEX "waiting_row_awaits_idx" ON "waiting_row"("awaits");

-- CreateIndex
CREATE INDEX "waiting_row_is_ready_idx" ON "waiting_row"("is_ready");

-- CreateIndex
CREATE INDEX "platform_reported_workspace_id_kind_at_idx" ON "platform_reported"("workspace_id", "kind", "at");

-- What facts have named so far is known from the start: arrangements by the first fact that named them, and every serving.
INSERT INTO "known_layout"
SELECT DISTINCT ON (l."arrangement_id") l."arrangement_id", l."arrangement_id", l."digest", f."workspace_id", f."podcast_id", f."episode_id", f."published_at"
FROM "fact" f JOIN "layout" l ON l."digest" = f."layout_digest" ORDER BY l."arrangement_id", f."at", f."fact_id";
INSERT INTO "known_layout"
SELECT DISTINCT ON (part->'ad'->>'serving_id') part->'ad'->>'serving_id', l."arrangement_id", l."digest", f."workspace_id", f."podcast_id", f."episode_id", f."published_at"
FROM "fact" f JOIN "layout" l ON l."digest" = f."layout_digest" CROSS JOIN LATERAL jsonb_array_elements(l."parts") AS part
WHERE part->'ad'->>'serving_id' IS NOT NULL ORDER BY part->'ad'->>'serving_id', f."at", f."fact_id"
ON CONFLICT DO NOTHING;
