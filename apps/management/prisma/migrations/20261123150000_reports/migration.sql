-- CreateTable
CREATE TABLE "report_schedule" (
    "definition_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "next_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "report_schedule_pkey" PRIMARY KEY ("definition_id")
);

-- CreateIndex
CREATE INDEX "report_schedule_next_at_idx" ON "report_schedule"("next_at");

-- The clock asks which results have expired.
CREATE INDEX "resource_ready_report" ON "resource"("instant_of"("attributes" ->> 'expires_at'))
WHERE "resource_type" = 'report_runs' AND "lifecycle_state" = 'ready';
