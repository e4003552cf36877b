-- AlterTable
ALTER TABLE "published_plan" ADD COLUMN "published_at" TIMESTAMPTZ(3);
