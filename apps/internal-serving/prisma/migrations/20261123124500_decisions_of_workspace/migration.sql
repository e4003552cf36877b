-- Alone in its migration, so that it runs in no transaction and decisions go on meanwhile.
CREATE INDEX CONCURRENTLY "decision_of_workspace_idx" ON "decision"("workspace_id", "at", "decision_id") WHERE "archived_in" IS NULL;
