-- AlterTable
ALTER TABLE "episode" ADD COLUMN     "markers" JSONB;

-- AlterTable
ALTER TABLE "production" ADD COLUMN     "loudness" DOUBLE PRECISION,
ADD COLUMN     "silences" JSONB;

-- CreateTable
CREATE TABLE "inventory_unit" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "parent_id" TEXT,
    "podcast_id" TEXT,
    "episode_ids" TEXT[],
    "default_break_plan" TEXT,

    CONSTRAINT "inventory_unit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "break_plan" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "inventory_unit_ids" TEXT[],
    "effective_at" TIMESTAMPTZ(3) NOT NULL,
    "attributes" JSONB NOT NULL,

    CONSTRAINT "break_plan_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "serving_halt" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "scope" JSONB NOT NULL,

    CONSTRAINT "serving_halt_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "inventory_unit_workspace_id_kind_idx" ON "inventory_unit"("workspace_id", "kind");

-- CreateIndex
CREATE INDEX "inventory_unit_podcast_id_idx" ON "inventory_unit"("podcast_id");

-- CreateIndex
CREATE INDEX "inventory_unit_episode_ids_idx" ON "inventory_unit" USING GIN ("episode_ids");

-- CreateIndex
CREATE INDEX "break_plan_workspace_id_state_idx" ON "break_plan"("workspace_id", "state");

-- CreateIndex
CREATE INDEX "serving_halt_workspace_id_state_idx" ON "serving_halt"("workspace_id", "state");
