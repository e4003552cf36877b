-- CreateTable
CREATE TABLE "evidence_report" (
    "evidence_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "source_label" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "granularity" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "finality" TEXT NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "currency" TEXT,
    "imported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "evidence_report_pkey" PRIMARY KEY ("evidence_id")
);

-- CreateTable
CREATE TABLE "evidence_row" (
    "evidence_id" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "source_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "downloads" BIGINT,
    "plays" BIGINT,
    "listeners" BIGINT,
    "completes" BIGINT,
    "impressions" BIGINT,
    "revenue_micros" BIGINT,

    CONSTRAINT "evidence_row_pkey" PRIMARY KEY ("evidence_id","place")
);

-- CreateIndex
CREATE INDEX "evidence_report_workspace_id_idx" ON "evidence_report"("workspace_id");

-- CreateIndex
CREATE INDEX "download_hour_workspace_id_episode_id_hour_idx" ON "download_hour"("workspace_id", "episode_id", "hour");
