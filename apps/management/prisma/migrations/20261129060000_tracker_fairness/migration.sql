-- No release has written it: hosts fail by workspace.
DROP TABLE "tracker_host";

-- CreateTable
CREATE TABLE "failing_tracker_host" (
    "workspace_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "failing_since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "failing_tracker_host_pkey" PRIMARY KEY ("workspace_id","host")
);

-- CreateIndex
CREATE INDEX "failing_tracker_host_failing_since_idx" ON "failing_tracker_host"("failing_since");

-- Calls that wait, by workspace and host; those that are being made wait too. The index of those that are being made by host stays.
DROP INDEX "tracker_call_due_idx";
CREATE INDEX "tracker_call_oldest_idx" ON "tracker_call"("workspace_id", "next_attempt_at") WHERE "state" = 'pending';
CREATE INDEX "tracker_call_host_idx" ON "tracker_call"("workspace_id", "host", "next_attempt_at") WHERE "state" = 'pending';
CREATE INDEX "tracker_call_leased_idx" ON "tracker_call"("workspace_id", "host", "lease_until") WHERE "state" = 'pending' AND "lease_until" IS NOT NULL;

-- Workspaces in which trackers are told of servings, and those whose creatives with trackers served until lately.
DROP INDEX "resource_tracking_idx";
CREATE INDEX "resource_tracked_idx" ON "resource"("workspace_id")
WHERE ("resource_type" = 'tracking_endpoints' AND "lifecycle_state" = 'active')
   OR ("resource_type" = 'creatives' AND "lifecycle_state" = 'approved' AND "attributes" ? 'trackers');
CREATE INDEX "resource_formerly_tracked_idx" ON "resource"("workspace_id", "updated_at")
WHERE "resource_type" = 'creatives' AND "attributes" ? 'trackers';
