-- CreateTable
CREATE TABLE "ad_track" (
    "digest" TEXT NOT NULL,
    "track" JSONB NOT NULL,

    CONSTRAINT "ad_track_pkey" PRIMARY KEY ("digest")
);
