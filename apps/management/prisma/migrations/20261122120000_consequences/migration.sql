-- AlterTable
ALTER TABLE "operation" ADD COLUMN     "consequences" JSONB;
