-- AlterTable
ALTER TABLE "opportunity_hour" ADD COLUMN     "positions" JSONB;
