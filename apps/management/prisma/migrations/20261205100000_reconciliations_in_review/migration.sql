-- Every process asks all the time for those that wait for verdicts, of all workspaces.
CREATE INDEX "resource_reconciliation" ON "resource"("lifecycle_state", "workspace_id", "id") WHERE "resource_type" = 'reconciliations';
