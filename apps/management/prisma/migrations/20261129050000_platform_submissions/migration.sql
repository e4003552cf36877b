-- The clock asks platforms again: the query of listDue for this type.
CREATE INDEX "resource_refreshed_submission" ON "resource"("instant_of"("attributes" ->> 'refresh_at'))
  WHERE "resource_type" = 'platform_submissions' AND "lifecycle_state" IN ('submitted', 'ambiguous');
