-- CreateTable
CREATE TABLE "serving_plan_content" (
    "serving_plan_id" TEXT NOT NULL,
    "line_item_ids" TEXT[],

    CONSTRAINT "serving_plan_content_pkey" PRIMARY KEY ("serving_plan_id")
);

-- The clock asks which line items have their time, state by state.
CREATE INDEX "resource_booked_line_item" ON "resource"("instant_of"("attributes" #>> '{window,start}'))
WHERE "resource_type" = 'line_items' AND "lifecycle_state" = 'booked';

CREATE INDEX "resource_delivering_line_item" ON "resource"("instant_of"("attributes" #>> '{window,end}'))
WHERE "resource_type" = 'line_items' AND "lifecycle_state" = 'delivering';

CREATE INDEX "resource_reserved_line_item" ON "resource"("instant_of"("attributes" ->> 'reserved_until'))
WHERE "resource_type" = 'line_items' AND "lifecycle_state" = 'reserved';

CREATE INDEX "resource_amended_line_item" ON "resource"("instant_of"("attributes" #>> '{amendment,effective_at}'))
WHERE "resource_type" = 'line_items' AND "lifecycle_state" IN ('booked', 'delivering', 'delivery_extended', 'paused');

CREATE INDEX "resource_flying_line_item" ON "resource"("id")
WHERE "resource_type" = 'line_items' AND "lifecycle_state" IN ('delivering', 'delivery_extended');

CREATE INDEX "resource_published_plan" ON "resource"("workspace_id")
WHERE "resource_type" = 'serving_plans' AND "lifecycle_state" = 'published';
