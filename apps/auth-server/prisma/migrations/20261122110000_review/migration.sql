-- An operation whose command waits for a review names the review task; operations from before waited for none.
ALTER TABLE "operation" ADD COLUMN "review_task_id" TEXT;
