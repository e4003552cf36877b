-- AlterTable
ALTER TABLE "content_snapshot" ADD COLUMN     "stream_id" TEXT;

-- AlterTable
ALTER TABLE "podcast" ADD COLUMN     "authority_id" TEXT,
ADD COLUMN     "stream_id" TEXT;

-- CreateTable
CREATE TABLE "authority_grant" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,

    CONSTRAINT "authority_grant_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "podcast_authority_id_stream_id_idx" ON "podcast"("authority_id", "stream_id");
