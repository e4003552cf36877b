-- CreateTable
CREATE TABLE "pacing_plan_due" (
    "workspace_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pacing_plan_due_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateIndex
CREATE INDEX "pacing_plan_due_due_at_idx" ON "pacing_plan_due"("due_at");

-- Whoever has sold goals before gets plans, too.
INSERT INTO "pacing_plan_due" ("workspace_id", "due_at")
SELECT DISTINCT "workspace_id", now() FROM "resource"
WHERE "resource_type" = 'line_items' AND "lifecycle_state" IN ('reserved', 'booked', 'delivering', 'delivery_extended', 'paused')
  AND "attributes" #>> '{goal,unit}' IN ('impressions', 'completes');
