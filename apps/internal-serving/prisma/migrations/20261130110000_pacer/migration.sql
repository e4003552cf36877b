-- AlterTable
ALTER TABLE "quota_lease" ADD COLUMN "counted" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "line_pacing" ADD COLUMN "campaign_id" TEXT,
ADD COLUMN "unit_price_micros" BIGINT,
ADD COLUMN "used" BIGINT NOT NULL DEFAULT 0;
