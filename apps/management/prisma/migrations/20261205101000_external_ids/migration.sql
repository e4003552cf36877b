-- What a line item is called in other systems: the ids that it has, and those that an amendment will give it.
CREATE FUNCTION "external_ids_of"("attributes" JSONB) RETURNS JSONB LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce("attributes" -> 'external_ids', '[]') || coalesce("attributes" #> '{amendment,external_ids}', '[]')
$$;

-- A command that sets one asks which other line item has it.
CREATE INDEX "resource_external_ids" ON "resource" USING GIN ("external_ids_of"("attributes") jsonb_path_ops) WITH (fastupdate = off)
WHERE "resource_type" = 'line_items';
