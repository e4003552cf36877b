-- CreateTable
CREATE TABLE "hls_play" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "sequence" INTEGER NOT NULL,
    "play_id" TEXT NOT NULL,
    "presentation" TEXT NOT NULL,
    "schedule" JSONB NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "address_key" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "hls_play_pkey" PRIMARY KEY ("listener_key","episode_id","sequence")
);

-- CreateIndex
CREATE UNIQUE INDEX "hls_play_play_id_key" ON "hls_play"("play_id");

-- CreateIndex
CREATE INDEX "hls_play_opened_at_idx" ON "hls_play"("opened_at");
