-- An operation whose command waits for a review names the review task; operations from before waited for none.
ALTER TABLE "operation" ADD COLUMN "review_task_id" TEXT;

-- The clock asks which reviews nobody decided in time.
CREATE INDEX "resource_open_review" ON "resource"("instant_of"("attributes" ->> 'due_at'))
WHERE "resource_type" = 'review_tasks' AND "lifecycle_state" IN ('open', 'changes_requested');
