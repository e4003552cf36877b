-- AlterTable
ALTER TABLE "line_pacing" ADD COLUMN "bound" BIGINT;

-- CreateTable
CREATE TABLE "alert" (
    "event_id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "alert_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "cause" TEXT,
    "goal" BIGINT NOT NULL,
    "target" DOUBLE PRECISION NOT NULL,
    "committed" DOUBLE PRECISION NOT NULL,
    "confirmed" DOUBLE PRECISION NOT NULL,
    "units" DOUBLE PRECISION NOT NULL,
    "short_by" TEXT,
    "budget_percent" DOUBLE PRECISION,

    CONSTRAINT "alert_pkey" PRIMARY KEY ("event_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "alert_position_key" ON "alert"("position");

-- CreateIndex
CREATE UNIQUE INDEX "alert_alert_id_state_key" ON "alert"("alert_id", "state");

-- CreateIndex
CREATE INDEX "alert_workspace_id_position_idx" ON "alert"("workspace_id", "position");

-- Whether an alert of a kind is open is asked for each line item.
CREATE INDEX "alert_opened" ON "alert"("line_item_id", "kind") WHERE "state" = 'open';

-- Rows are inserted once, and stay. The roles of services got every right to new tables.
DO $$
DECLARE
    held RECORD;
BEGIN
    FOR held IN
        SELECT DISTINCT r.rolname AS "role"
        FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = 'alert' AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE ON "alert" FROM %I', held."role");
    END LOOP;
END
$$;
