-- AlterTable
ALTER TABLE "content_snapshot" ADD COLUMN     "duration_ms" BIGINT,
ADD COLUMN     "rendition_bytes" BIGINT,
ADD COLUMN     "rendition_digest" TEXT;

-- CreateIndex
CREATE INDEX "content_snapshot_rendition_digest_idx" ON "content_snapshot"("rendition_digest");
