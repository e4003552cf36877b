-- CreateTable
CREATE TABLE "published_plan" (
    "serving_plan_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "lifecycle_state" TEXT NOT NULL,
    "digest" TEXT,
    "effective_from" TIMESTAMPTZ(3),
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "published_plan_pkey" PRIMARY KEY ("serving_plan_id")
);

-- CreateTable
CREATE TABLE "decision" (
    "decision_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "serving_plan_id" TEXT,
    "plan_digest" TEXT,
    "request_digest" TEXT NOT NULL,
    "response" JSONB NOT NULL,
    "trace" JSONB NOT NULL,
    "goal_line_items" TEXT[],
    "goal_attempts" TEXT[],

    CONSTRAINT "decision_pkey" PRIMARY KEY ("decision_id")
);

-- CreateIndex
CREATE INDEX "published_plan_lifecycle_state_workspace_id_idx" ON "published_plan"("lifecycle_state", "workspace_id");

-- CreateIndex
CREATE INDEX "decision_goal_line_items_idx" ON "decision" USING GIN ("goal_line_items");
