-- AlterTable
ALTER TABLE "reconciliation_item" ADD COLUMN     "changed_version" INTEGER NOT NULL DEFAULT 0;
