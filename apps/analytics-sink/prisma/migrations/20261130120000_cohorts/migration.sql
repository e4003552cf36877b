-- What names the cohort of a serving, and what it adds to it. Both are empty for servings that the release before decides meanwhile.
ALTER TABLE "ad_serving" ADD COLUMN "line_item_id" TEXT,
ADD COLUMN "workspace_id" TEXT,
ADD COLUMN "surface_class" TEXT,
ADD COLUMN "reached" INTEGER NOT NULL DEFAULT 0;

-- Two more stages. What is stored fulfils it, because it was written under the narrower one; the next migration reads it.
ALTER TABLE "ad_entry" DROP CONSTRAINT "ad_entry_stage_check",
ADD CONSTRAINT "ad_entry_stage_check" CHECK ("stage" IN ('decided', 'served', 'delivered', 'confirmed', 'billable')) NOT VALID;

ALTER TABLE "ad_hour" ADD COLUMN "served" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN "confirmed" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "ad_written" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "window_on" DATE NOT NULL,
    "serving_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "creative_id" TEXT NOT NULL,
    "break_key" TEXT NOT NULL,
    "slot" INTEGER NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "operating_system" TEXT NOT NULL,

    CONSTRAINT "ad_written_pkey" PRIMARY KEY ("listener_key","episode_id","window_on","serving_id")
);

-- CreateTable
CREATE TABLE "serving_cohort" (
    "line_item_id" TEXT NOT NULL,
    "surface_class" TEXT NOT NULL,
    "quarter" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "decided" BIGINT NOT NULL,
    "served" BIGINT NOT NULL,
    "delivered" BIGINT NOT NULL,
    "held" BIGINT NOT NULL,
    "client_started" BIGINT NOT NULL,
    "client_completed" BIGINT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "serving_cohort_pkey" PRIMARY KEY ("line_item_id","surface_class","quarter","workspace_id")
);

-- CreateTable
CREATE TABLE "ad_adjustment" (
    "id" BIGSERIAL NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "reconciliation_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "quantity" BIGINT NOT NULL,
    "counting_basis" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ad_adjustment_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ad_written_serving_id_idx" ON "ad_written"("serving_id");

-- CreateIndex
CREATE INDEX "serving_cohort_changed_at_idx" ON "serving_cohort"("changed_at");

-- CreateIndex
CREATE UNIQUE INDEX "ad_adjustment_workspace_id_reconciliation_id_item_id_key" ON "ad_adjustment"("workspace_id", "reconciliation_id", "item_id");

-- CreateIndex
CREATE INDEX "ad_adjustment_line_item_id_idx" ON "ad_adjustment"("line_item_id");

-- What a line item is charged for. Facts wait on the bus while these are made. Not CONCURRENTLY: that would wait for the migrations of
-- other schemas, which wait for this one.
CREATE INDEX "ad_entry_line_item_id_hour_idx" ON "ad_entry"("line_item_id", "hour");
CREATE INDEX "client_event_line_item_id_at_idx" ON "client_event"("line_item_id", "at");

-- An adjustment is answered by another one, never changed.
CREATE TRIGGER "ad_adjustment_is_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ad_adjustment"
FOR EACH STATEMENT EXECUTE FUNCTION "refuse_to_rewrite"();
