-- AlterTable
ALTER TABLE "decision" ADD COLUMN     "archived_in" BYTEA,
ALTER COLUMN "response" DROP NOT NULL,
ALTER COLUMN "trace" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "decision_unarchived_at_idx" ON "decision"("at") WHERE "archived_in" IS NULL;
