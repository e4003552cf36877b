-- AlterTable
ALTER TABLE "job" ADD COLUMN     "traceparent" TEXT;

-- AlterTable
ALTER TABLE "outbox" ADD COLUMN     "traceparent" TEXT;
