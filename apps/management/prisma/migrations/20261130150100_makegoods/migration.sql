-- CreateTable
CREATE TABLE "shortfall_check" (
    "line_item_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "shortfall_check_pkey" PRIMARY KEY ("line_item_id")
);

-- CreateIndex
CREATE INDEX "shortfall_check_due_at_idx" ON "shortfall_check"("due_at");

-- The clock asks for these all the time.
CREATE INDEX "resource_scheduled_makegood" ON "resource"("id") WHERE "resource_type" = 'makegoods' AND "lifecycle_state" = 'scheduled';
