-- CreateTable
CREATE TABLE "serving_mode" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "mode" TEXT NOT NULL DEFAULT 'guard',
    "wanted" TEXT NOT NULL DEFAULT 'lease',
    "switched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "serving_mode_pkey" PRIMARY KEY ("only_row")
);

-- CreateTable
CREATE TABLE "serving_node" (
    "node_epoch" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),
    "demand" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "serving_node_pkey" PRIMARY KEY ("node_epoch")
);

-- CreateTable
CREATE TABLE "quota_lease" (
    "line_item_id" TEXT NOT NULL,
    "node_epoch" BIGINT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "granted" BIGINT NOT NULL,
    "used" BIGINT NOT NULL DEFAULT 0,
    "rate_per_s" DOUBLE PRECISION NOT NULL,
    "burst" INTEGER NOT NULL,
    "revised_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "quota_lease_pkey" PRIMARY KEY ("node_epoch","line_item_id"),
    CONSTRAINT "quota_lease_used_within_granted" CHECK ("used" BETWEEN 0 AND "granted")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "pacer_term" (
    "shard" INTEGER NOT NULL,
    "holder" BIGINT NOT NULL,
    "term" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pacer_term_pkey" PRIMARY KEY ("shard")
);

-- CreateTable
CREATE TABLE "line_pacing" (
    "line_item_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "goal" BIGINT NOT NULL,
    "basis" TEXT NOT NULL,
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    "window_end" TIMESTAMPTZ(3) NOT NULL,
    "plan_digest" TEXT,
    "closed_used" BIGINT NOT NULL,
    "committed" DOUBLE PRECISION NOT NULL,
    "target" DOUBLE PRECISION NOT NULL,
    "delivery_rate" DOUBLE PRECISION NOT NULL,
    "urgency" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "pacing_version" BIGINT NOT NULL,
    "day" JSONB,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "line_pacing_pkey" PRIMARY KEY ("line_item_id")
);

-- CreateTable
CREATE TABLE "pacing_hour" (
    "line_item_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "target" DOUBLE PRECISION NOT NULL,
    "committed" DOUBLE PRECISION NOT NULL,
    "granted" BIGINT NOT NULL,
    "used" BIGINT NOT NULL,
    "short_by" TEXT,

    CONSTRAINT "pacing_hour_pkey" PRIMARY KEY ("line_item_id","hour")
);

-- CreateTable
CREATE TABLE "pacing_plan" (
    "line_item_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "hours" DOUBLE PRECISION[],
    "learning" BOOLEAN NOT NULL,
    "made_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pacing_plan_pkey" PRIMARY KEY ("line_item_id")
);

-- CreateTable
CREATE TABLE "share_hour" (
    "line_item_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "node_epoch" BIGINT NOT NULL,
    "opportunities" BIGINT NOT NULL,
    "served" BIGINT NOT NULL,

    CONSTRAINT "share_hour_pkey" PRIMARY KEY ("line_item_id","hour","node_epoch")
);

-- CreateIndex
CREATE INDEX "quota_lease_line_item_id_idx" ON "quota_lease"("line_item_id");

-- CreateIndex
CREATE INDEX "line_pacing_workspace_id_idx" ON "line_pacing"("workspace_id");

-- CreateIndex
CREATE INDEX "pacing_hour_workspace_id_hour_idx" ON "pacing_hour"("workspace_id", "hour");

-- The one row.
INSERT INTO "serving_mode" ("only_row") VALUES (true);
