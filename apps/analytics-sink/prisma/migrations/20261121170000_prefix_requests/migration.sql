-- CreateTable
CREATE TABLE "prefix_import" (
    "workspace_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "imported_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "secret_name" TEXT NOT NULL,
    "records" BIGINT NOT NULL,
    "malformed" BIGINT NOT NULL,
    "judged" JSONB NOT NULL,
    "methodology_version" TEXT NOT NULL,
    "lists_version" TEXT NOT NULL,

    CONSTRAINT "prefix_import_pkey" PRIMARY KEY ("workspace_id","digest")
);

-- CreateTable
CREATE TABLE "prefix_request" (
    "workspace_id" TEXT NOT NULL,
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "window_on" DATE NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "first_two" BOOLEAN NOT NULL,

    CONSTRAINT "prefix_request_pkey" PRIMARY KEY ("workspace_id","listener_key","podcast_id","episode_id","window_on")
);

-- CreateIndex
CREATE INDEX "prefix_request_workspace_id_podcast_id_window_on_idx" ON "prefix_request"("workspace_id", "podcast_id", "window_on");
