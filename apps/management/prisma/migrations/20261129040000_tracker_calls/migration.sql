-- CreateTable
CREATE TABLE "tracker_call" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "serving_id" TEXT NOT NULL,
    "tracker_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "url_template" TEXT,
    "host" TEXT NOT NULL,
    "counted_at" TIMESTAMPTZ(3) NOT NULL,
    "playhead_ms" INTEGER,
    "break_position" TEXT,
    "ad_type" TEXT,
    "state" TEXT NOT NULL,
    "problem" TEXT,
    "status" INTEGER,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "lease_id" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "tracker_call_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tracker_host" (
    "host" TEXT NOT NULL,
    "failing_since" TIMESTAMPTZ(3),

    CONSTRAINT "tracker_host_pkey" PRIMARY KEY ("host")
);

-- CreateTable
CREATE TABLE "tracker_tally" (
    "owner_id" TEXT NOT NULL,
    "delivered" BIGINT NOT NULL DEFAULT 0,
    "failed" BIGINT NOT NULL DEFAULT 0,
    "given_up" BIGINT NOT NULL DEFAULT 0,
    "last_delivered_at" TIMESTAMPTZ(3),
    "last_problem" TEXT,
    "last_status" INTEGER,
    "last_problem_at" TIMESTAMPTZ(3),

    CONSTRAINT "tracker_tally_pkey" PRIMARY KEY ("owner_id")
);

-- CreateTable
CREATE TABLE "tracker_cursor" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tracker_cursor_pkey" PRIMARY KEY ("only_row"),
    CONSTRAINT "tracker_cursor_only_row_check" CHECK ("only_row")
);

-- CreateIndex
CREATE UNIQUE INDEX "tracker_call_serving_id_tracker_id_key" ON "tracker_call"("serving_id", "tracker_id");

-- Calls that wait, by host; those that are being made wait too.
CREATE INDEX "tracker_call_due_idx" ON "tracker_call"("host", "next_attempt_at") WHERE "state" = 'pending';
CREATE INDEX "tracker_call_busy_idx" ON "tracker_call"("host", "lease_until") WHERE "state" = 'pending' AND "lease_until" IS NOT NULL;
CREATE INDEX "tracker_call_waiting_idx" ON "tracker_call"("counted_at") WHERE "state" = 'pending';

-- Waiting calls of one endpoint or creative.
CREATE INDEX "tracker_call_owner_idx" ON "tracker_call"("owner_id") WHERE "state" = 'pending';

-- CreateIndex
CREATE INDEX "tracker_call_ended_at_idx" ON "tracker_call"("ended_at");

-- Workspaces with trackers: of their servings alone management asks.
CREATE INDEX "resource_tracking_idx" ON "resource"("workspace_id")
WHERE ("resource_type" = 'tracking_endpoints' AND "lifecycle_state" = 'active') OR ("resource_type" = 'creatives' AND "attributes" ? 'trackers');
