-- CreateTable
CREATE TABLE "demand_refresh" (
    "source_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "refresh_at" TIMESTAMPTZ(3),
    "settle_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity',

    CONSTRAINT "demand_refresh_pkey" PRIMARY KEY ("source_id")
);

-- CreateTable
CREATE TABLE "demand_ad" (
    "source_id" TEXT NOT NULL,
    "answer_key" TEXT NOT NULL,
    "demand_key" TEXT NOT NULL,
    "valid_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "demand_ad_pkey" PRIMARY KEY ("source_id","answer_key")
);

-- CreateIndex
CREATE INDEX "demand_refresh_refresh_at_idx" ON "demand_refresh"("refresh_at");

-- CreateIndex
CREATE INDEX "demand_refresh_settle_at_idx" ON "demand_refresh"("settle_at");
