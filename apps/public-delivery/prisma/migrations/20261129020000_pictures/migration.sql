-- AlterTable
ALTER TABLE "production" ADD COLUMN     "pictures" JSONB;

-- AlterTable
ALTER TABLE "presented_episode" ADD COLUMN     "video_codec" TEXT,
ADD COLUMN     "video_height" INTEGER;

-- CreateTable
CREATE TABLE "ad_picture" (
    "creative_id" TEXT NOT NULL,
    "pictures" JSONB NOT NULL,

    CONSTRAINT "ad_picture_pkey" PRIMARY KEY ("creative_id")
);
