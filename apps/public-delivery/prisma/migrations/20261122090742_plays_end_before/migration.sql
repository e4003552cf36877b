-- AlterTable
ALTER TABLE "episode" ADD COLUMN     "plays_end_before" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "episode_plays_end_before_idx" ON "episode"("plays_end_before");
