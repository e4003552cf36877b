-- AlterTable
ALTER TABLE "operation" ADD COLUMN "state_reason" TEXT;
