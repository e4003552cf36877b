-- CreateTable
CREATE TABLE "delivery_alias" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "alias" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "path_slug" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "when_unavailable" TEXT NOT NULL,

    CONSTRAINT "delivery_alias_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "content_snapshot" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "source_version" INTEGER NOT NULL,
    "episode_id" TEXT,
    "master_url" TEXT NOT NULL,
    "territories" TEXT[],
    "served_until" TIMESTAMPTZ(3),

    CONSTRAINT "content_snapshot_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "serving_intent" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "authority_id" TEXT NOT NULL,
    "plan_digest" TEXT,
    "actions" JSONB NOT NULL,
    "applied_at" TIMESTAMPTZ(3),
    "acknowledged_version" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),

    CONSTRAINT "serving_intent_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "delivery_alias_host_path_slug_idx" ON "delivery_alias"("host", "path_slug");

-- CreateIndex
CREATE INDEX "delivery_alias_authority_id_alias_idx" ON "delivery_alias"("authority_id", "alias");

-- CreateIndex
CREATE INDEX "content_snapshot_authority_id_source_id_source_version_idx" ON "content_snapshot"("authority_id", "source_id", "source_version" DESC);

-- CreateIndex
CREATE INDEX "serving_intent_due_at_idx" ON "serving_intent"("due_at");
