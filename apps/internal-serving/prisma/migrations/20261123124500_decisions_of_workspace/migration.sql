-- Not CONCURRENTLY: that waits for every statement of the database, also for the migrations of other schemas, which wait for this one.
-- Decisions wait while it is built: about a second for each million of them that is not archived.
CREATE INDEX "decision_of_workspace_idx" ON "decision"("workspace_id", "at", "decision_id") WHERE "archived_in" IS NULL;
