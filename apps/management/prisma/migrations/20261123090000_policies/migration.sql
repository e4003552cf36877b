-- The clock asks which policies come into force.
CREATE INDEX "resource_scheduled_policy" ON "resource"("instant_of"("attributes" ->> 'effective_at'))
WHERE "resource_type" = 'policies' AND "lifecycle_state" = 'scheduled';

-- The clock asks which policies a newer one replaced; plans and reviews ask which are in force.
CREATE INDEX "resource_active_policy" ON "resource"("workspace_id", "instant_of"("attributes" ->> 'effective_at'))
WHERE "resource_type" = 'policies' AND "lifecycle_state" = 'active';
