-- AlterTable
ALTER TABLE "job" ADD COLUMN     "claimed_at" TIMESTAMPTZ(3),
ADD COLUMN     "ended_at" TIMESTAMPTZ(3),
ADD COLUMN     "expected_ms" INTEGER NOT NULL DEFAULT 30000,
ADD COLUMN     "work_class" TEXT NOT NULL DEFAULT 'interactive';

-- CreateIndex
CREATE INDEX "job_claimed_at_idx" ON "job"("claimed_at");
