-- AlterTable
ALTER TABLE "ad_serving" ADD COLUMN     "position" TEXT;

-- AlterTable
ALTER TABLE "opportunity_hour" ADD COLUMN     "positions" JSONB;
