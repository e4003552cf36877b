-- CreateTable
CREATE TABLE "policy" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "podcast_ids" TEXT[],
    "rules" JSONB NOT NULL,

    CONSTRAINT "policy_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "policy_workspace_id_kind_state_idx" ON "policy"("workspace_id", "kind", "state");
