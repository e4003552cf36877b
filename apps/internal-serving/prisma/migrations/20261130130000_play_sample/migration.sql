-- CreateTable
CREATE TABLE "play_sample" (
    "workspace_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "packed" BYTEA NOT NULL,
    "listeners" BYTEA[],
    "value_counts" JSONB,

    CONSTRAINT "play_sample_pkey" PRIMARY KEY ("workspace_id","hour")
);

-- CreateTable
CREATE TABLE "play_hour" (
    "workspace_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "episode_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,
    "language" TEXT NOT NULL,
    "content_categories" TEXT[],
    "opportunities" BIGINT NOT NULL,

    CONSTRAINT "play_hour_pkey" PRIMARY KEY ("workspace_id","hour","episode_id")
);

-- CreateTable
CREATE TABLE "sample_progress" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "next_hour" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamp with time zone,

    CONSTRAINT "sample_progress_pkey" PRIMARY KEY ("only_row")
);

-- CreateTable
CREATE TABLE "sample_secret" (
    "month" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,

    CONSTRAINT "sample_secret_pkey" PRIMARY KEY ("month")
);

-- CreateTable
CREATE TABLE "play_listener" (
    "decision_id" UUID NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "code" BYTEA NOT NULL,

    CONSTRAINT "play_listener_pkey" PRIMARY KEY ("decision_id")
);

-- CreateIndex
CREATE INDEX "play_sample_hour_idx" ON "play_sample"("hour");

-- CreateIndex
CREATE INDEX "play_listener_at_idx" ON "play_listener"("at");
