-- CreateTable
CREATE TABLE "opportunity_hour" (
    "workspace_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "country" TEXT NOT NULL,
    "break_key" TEXT NOT NULL,
    "no_ad_reason" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "breaks" BIGINT NOT NULL,
    "opportunities" BIGINT NOT NULL,

    CONSTRAINT "opportunity_hour_pkey" PRIMARY KEY ("workspace_id","hour","podcast_id","episode_id","country","break_key","no_ad_reason")
);

-- CreateTable
CREATE TABLE "opportunity_progress" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "published_until" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamp with time zone,

    CONSTRAINT "opportunity_progress_pkey" PRIMARY KEY ("only_row")
);

-- CreateTable
CREATE TABLE "verdict_hour" (
    "line_item_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "code" TEXT NOT NULL,
    "counter_id" UUID NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "considered" BIGINT NOT NULL,
    "not_looked_at" BIGINT NOT NULL,

    CONSTRAINT "verdict_hour_pkey" PRIMARY KEY ("line_item_id","hour","code","counter_id")
);

-- CreateIndex
CREATE INDEX "opportunity_hour_hour_idx" ON "opportunity_hour"("hour");

-- CreateIndex
CREATE INDEX "verdict_hour_hour_idx" ON "verdict_hour"("hour");
