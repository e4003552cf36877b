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
    "opportunities" BIGINT NOT NULL,

    CONSTRAINT "opportunity_hour_pkey" PRIMARY KEY ("workspace_id","hour","podcast_id","episode_id","country","break_key","no_ad_reason")
);

-- CreateTable
CREATE TABLE "opportunity_progress" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "counted_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "opportunity_progress_pkey" PRIMARY KEY ("only_row")
);
