-- AlterTable
ALTER TABLE "binding" ADD COLUMN     "traceparent" TEXT;
