-- AlterTable
ALTER TABLE "reconciliation_item" ADD COLUMN     "matched" BIGINT;
