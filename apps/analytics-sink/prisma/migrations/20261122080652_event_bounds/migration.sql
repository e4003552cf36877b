-- AlterTable
ALTER TABLE "client_event" ADD COLUMN     "ad_duration_ms" INTEGER;

-- AlterTable
ALTER TABLE "client_event_hour" ADD COLUMN     "excess" BIGINT NOT NULL DEFAULT 0;

-- How many of a serving's reports count is looked for with each of them, however many were held apart.
CREATE INDEX "client_event_counted_idx" ON "client_event"("serving_id", "event") WHERE "judgement" = 'eligible';
