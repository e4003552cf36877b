-- Tracks of HLS: what plays when. Facts of MP3 have none of the new columns.
CREATE TABLE "track_part" (
    "digest" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "parts" INTEGER NOT NULL,
    "media" TEXT NOT NULL,
    "timescale" INTEGER NOT NULL,
    "cells" JSONB NOT NULL,

    CONSTRAINT "track_part_pkey" PRIMARY KEY ("digest", "part")
);

ALTER TABLE "layout" ADD COLUMN "track" TEXT;
ALTER TABLE "fact" ADD COLUMN "play_id" TEXT, ADD COLUMN "play_address_key" TEXT;
ALTER TABLE "pending_fact" ADD COLUMN "track" TEXT;
CREATE INDEX "pending_fact_track_idx" ON "pending_fact"("track");
ALTER TABLE "served_request" ADD COLUMN "play_id" TEXT, ADD COLUMN "play_address_key" TEXT;

-- The keys that used a play's token while that may join them, and the plays of a key. Each reads the table once; no row is in them yet.
-- Not CONCURRENTLY: that would wait for the migrations of other schemas, which wait for this one.
CREATE INDEX "served_request_play_idx" ON "served_request"("episode_id", "play_id", "listener_key") WHERE "play_address_key" IS NOT NULL;
CREATE INDEX "served_request_key_play_idx" ON "served_request"("listener_key", "episode_id", "play_id")
    WHERE "play_address_key" IS NOT NULL;
