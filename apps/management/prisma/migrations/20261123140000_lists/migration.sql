-- Lists by the time of change, and of one state in the order of creation (which is the order by state, too).
-- CreateIndex
CREATE INDEX "resource_workspace_id_resource_type_updated_at_id_idx" ON "resource"("workspace_id", "resource_type", "updated_at", "id");

-- CreateIndex
CREATE INDEX "resource_workspace_id_resource_type_lifecycle_state_created_idx" ON "resource"("workspace_id", "resource_type", "lifecycle_state", "created_at", "id");

-- The beginning of a resource's name, in small letters: lists are sorted by it. The same text of the same database is always the same in small
-- letters, hence immutable.
CREATE FUNCTION "name_of"("attributes" JSONB) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(left(coalesce("attributes" ->> 'name', "attributes" ->> 'title', "attributes" ->> 'legal_name', "attributes" ->> 'filename', ''), 200));

-- Lists by name.
CREATE INDEX "resource_name" ON "resource"("workspace_id", "resource_type", ("name_of"("attributes")) COLLATE "C", "id");

-- Lists by a time in the attributes: one index for each such sort key of a type. A resource without the time comes last.
CREATE INDEX "resource_line_item_window_start" ON "resource"("workspace_id", (coalesce("instant_of"("attributes" #>> '{window,start}'), 'infinity')), "id")
WHERE "resource_type" = 'line_items';

CREATE INDEX "resource_line_item_window_end" ON "resource"("workspace_id", (coalesce("instant_of"("attributes" #>> '{window,end}'), 'infinity')), "id")
WHERE "resource_type" = 'line_items';

CREATE INDEX "resource_break_plan_effective_at" ON "resource"("workspace_id", (coalesce("instant_of"("attributes" #>> '{effective_at}'), 'infinity')), "id")
WHERE "resource_type" = 'break_plans';

CREATE INDEX "resource_serving_plan_effective_from" ON "resource"("workspace_id", (coalesce("instant_of"("attributes" #>> '{effective_from}'), 'infinity')), "id")
WHERE "resource_type" = 'serving_plans';

CREATE INDEX "resource_review_task_due_at" ON "resource"("workspace_id", (coalesce("instant_of"("attributes" #>> '{due_at}'), 'infinity')), "id")
WHERE "resource_type" = 'review_tasks';

CREATE INDEX "resource_episode_published_at" ON "resource"("workspace_id", (coalesce("instant_of"("attributes" #>> '{published_at}'), 'infinity')), "id")
WHERE "resource_type" = 'episodes';
