-- The forecaster asks each minute which flights may be sold next.
CREATE INDEX "resource_offered_line_item" ON "resource"("updated_at") WHERE "resource_type" = 'line_items' AND "lifecycle_state" IN ('draft', 'pending_review', 'approved');
