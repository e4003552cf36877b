-- Lists by the time of change, and of one state in the order of creation (which is the order by state, too).
-- CreateIndex
CREATE INDEX "resource_workspace_id_resource_type_updated_at_id_idx" ON "resource"("workspace_id", "resource_type", "updated_at", "id");

-- CreateIndex
CREATE INDEX "resource_workspace_id_resource_type_lifecycle_state_created_idx" ON "resource"("workspace_id", "resource_type", "lifecycle_state", "created_at", "id");
