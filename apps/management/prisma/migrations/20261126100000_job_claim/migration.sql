-- A claim asks for the first waiting job of each workspace, and then for the leases that have ended.
CREATE INDEX "job_waiting" ON "job"("kind", "work_class", "workspace_id", "expected_ms", "created_at", "id")
WHERE "state" = 'queued' OR ("state" = 'running' AND "lease_until" = '-infinity');
CREATE INDEX "job_leased" ON "job"("kind", "lease_until") WHERE "state" = 'running';
