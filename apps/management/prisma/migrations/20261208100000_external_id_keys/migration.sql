-- The ids of a line item in other systems, those that an amendment will give it too, each as one key that begins with the workspace.
CREATE FUNCTION "external_id_keys"("workspace_id" TEXT, "attributes" JSONB) RETURNS TEXT[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY(
    SELECT "workspace_id" || E'\n' || (one ->> 'source') || E'\n' || (one ->> 'id')
    FROM jsonb_array_elements(
      coalesce("attributes" -> 'external_ids', '[]') || coalesce("attributes" #> '{amendment,external_ids}', '[]')) AS one)
$$;

-- A command that sets one asks which other line item of the workspace has it. The index of before knew no workspace, and was not used.
CREATE INDEX "resource_external_id_keys" ON "resource" USING GIN ("external_id_keys"("workspace_id", "attributes")) WITH (fastupdate = off)
WHERE "resource_type" = 'line_items';
DROP INDEX "resource_external_ids";
