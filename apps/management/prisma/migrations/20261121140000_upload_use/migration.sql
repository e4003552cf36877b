-- Ids of the uploads that a resource mentions anywhere. The text form of jsonb is always the same, hence immutable; reading a
-- long one takes a millisecond, hence the cost: without it the planner prefers to read every resource.
CREATE FUNCTION "upload_ids"("attributes" JSONB) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
  SELECT CASE WHEN strpos("attributes"::text, 'upl_') > 0 THEN
    ARRAY(SELECT DISTINCT found[1] FROM regexp_matches("attributes"::text, 'upl_[0-9a-z]{26}', 'g') AS found)
  ELSE '{}' END
$$;

-- An upload that is about to end asks who mentions it, in whatever workspace.
CREATE INDEX "resource_upload_use" ON "resource" USING GIN ("upload_ids"("attributes")) WITH (fastupdate = off)
WHERE "resource_type" IN ('podcasts', 'episodes', 'productions', 'media_clips', 'creatives');

-- And whether a worker has yet to read it.
CREATE INDEX "job_reading" ON "job"(("input" ->> 'storage_key')) WHERE "state" IN ('queued', 'running');
