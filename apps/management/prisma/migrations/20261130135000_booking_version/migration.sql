-- CreateTable
CREATE TABLE "booking_version" (
    "workspace_id" TEXT NOT NULL,
    "version" BIGINT NOT NULL,

    CONSTRAINT "booking_version_pkey" PRIMARY KEY ("workspace_id")
);

-- The clock asks which forecasts have expired.
CREATE INDEX "resource_ready_forecast" ON "resource"("instant_of"("attributes" ->> 'expires_at'))
WHERE "resource_type" = 'forecasts' AND "lifecycle_state" = 'ready';
