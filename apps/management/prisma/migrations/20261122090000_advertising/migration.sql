-- An instant as clients write it (RFC 3339 in UTC, whatever the fraction): with its zone in the text it is always the same, hence immutable.
CREATE FUNCTION "instant_of"("text" TEXT) RETURNS TIMESTAMPTZ LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN "text"::timestamptz;

-- The clock asks which break plans have a successor that holds.
CREATE INDEX "resource_published_break_plan" ON "resource"("workspace_id", "instant_of"("attributes" ->> 'effective_at'))
WHERE "resource_type" = 'break_plans' AND "lifecycle_state" = 'published';
