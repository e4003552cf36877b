-- AlterTable
ALTER TABLE "decision" ADD COLUMN     "inputs" JSONB,
ADD COLUMN     "share_opportunities" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "share_servings" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateIndex
CREATE INDEX "decision_share_opportunities_idx" ON "decision" USING GIN ("share_opportunities");

-- CreateTable
CREATE TABLE "decision_announcement" (
    "decision_id" TEXT NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamptz,

    CONSTRAINT "decision_announcement_pkey" PRIMARY KEY ("decision_id")
);

-- CreateIndex
CREATE INDEX "decision_announcement_leased_until_idx" ON "decision_announcement"("leased_until");

-- CreateTable
CREATE TABLE "serving_state" (
    "resource_id" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "serves" BOOLEAN NOT NULL,
    "subject" JSONB NOT NULL,

    CONSTRAINT "serving_state_pkey" PRIMARY KEY ("resource_id")
);

-- CreateIndex
CREATE INDEX "serving_state_workspace_id_serves_idx" ON "serving_state"("workspace_id", "serves");

-- CreateTable
CREATE TABLE "suspension_revision" (
    "workspace_id" TEXT NOT NULL,
    "revision" BIGINT NOT NULL,

    CONSTRAINT "suspension_revision_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "suspension_set" (
    "digest" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "suspensions" JSONB NOT NULL,

    CONSTRAINT "suspension_set_pkey" PRIMARY KEY ("workspace_id","digest")
);
