-- AlterTable
ALTER TABLE "receipt" ADD COLUMN "kind" TEXT;

-- CreateTable
CREATE TABLE "change" (
    "workspace_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" TEXT NOT NULL,
    "version" INTEGER,
    "event_type" TEXT NOT NULL,
    "operation_id" TEXT,
    "detail" JSONB,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "change_pkey" PRIMARY KEY ("workspace_id","seq","position")
);

-- A service of an earlier release saves receipts without a kind, and no changes: its changes are the events of its transaction. While this
-- migration runs, the new column's lock keeps it waiting; afterwards this trigger sees each of its receipts.
CREATE FUNCTION "save_changes_of_earlier_release"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "change" ("workspace_id", "seq", "position", "kind", "resource_type", "resource_id", "version", "event_type", "operation_id", "occurred_at")
    SELECT NEW."workspace_id", NEW."seq", row_number() OVER (ORDER BY "position") - 1, 'revision',
           "payload" #>> '{subject,type}', "key", ("payload" #>> '{subject,version}')::int, "type", NEW."operation_id",
           ("payload" ->> 'occurred_at')::timestamptz
    FROM "outbox" WHERE "published_at" IS NULL AND "xmin" = pg_current_xact_id()::xid;
    RETURN NULL;
END
$$;

CREATE TRIGGER "receipt_of_earlier_release" AFTER INSERT ON "receipt" FOR EACH ROW WHEN (NEW."kind" IS NULL)
EXECUTE FUNCTION "save_changes_of_earlier_release"();

-- The changes until now. An operation that waited for a review has two receipts: the first for its review task, the last for its subject.
INSERT INTO "change" ("workspace_id", "seq", "position", "kind", "resource_type", "resource_id", "version", "event_type", "operation_id", "occurred_at")
SELECT "workspace_id", "seq", row_number() OVER (PARTITION BY "workspace_id", "seq" ORDER BY "event_position", "id", "version") - 1, 'revision',
       "resource_type", "id", "version", "event_type", "operation_id", "created_at"
FROM (
    SELECT r."workspace_id", r."resource_type", r."id", v."version", v."operation_id", v."created_at", o."position" AS "event_position",
           coalesce(CASE WHEN r."resource_type" = 'review_tasks' THEN c."first" ELSE c."last" END, 0) AS "seq",
           coalesce(o."type", r."resource_type" || '.revised') AS "event_type"
    FROM "revision" v
    JOIN "resource" r ON r."id" = v."resource_id"
    LEFT JOIN (
        SELECT "operation_id", min("seq") AS "first", max("seq") AS "last" FROM "receipt" GROUP BY "operation_id"
    ) c ON c."operation_id" = v."operation_id"
    LEFT JOIN "outbox" o ON o."key" = v."resource_id" AND (o."payload" #>> '{subject,version}')::int = v."version"
) AS "past";
