-- CreateTable
CREATE TABLE "preview" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "document" JSONB NOT NULL,
    "headers" JSONB NOT NULL,
    "ads" JSONB NOT NULL,
    "made_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "preview_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "preview_workspace_id_expires_at_idx" ON "preview"("workspace_id", "expires_at");

-- CreateIndex
CREATE INDEX "preview_expires_at_idx" ON "preview"("expires_at");
