-- AlterTable
ALTER TABLE "batch" ADD COLUMN     "rejected_by_code" JSONB NOT NULL DEFAULT '{}';

-- What is listed of batches before this is counted: all of it where no more than 20 rows were rejected.
UPDATE "batch" SET "rejected_by_code" = (
  SELECT coalesce(jsonb_object_agg(code, rows), '{}')
  FROM (SELECT r->>'code' AS code, count(*) AS rows FROM jsonb_array_elements("rejections") r GROUP BY 1) AS counted)
WHERE "rejected" > 0;

-- Other parties tell a request in several rows, in whatever batches: its rows are looked for with each of them.
CREATE INDEX "fact_declared_request_idx" ON "fact"("request_id") WHERE "lists_version" LIKE 'declared by %';
