-- CreateTable
CREATE TABLE "serving_mode" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "mode" TEXT NOT NULL DEFAULT 'guard',
    "wanted" TEXT NOT NULL DEFAULT 'lease',
    "switched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "serving_mode_pkey" PRIMARY KEY ("only_row")
);

-- CreateTable
CREATE TABLE "serving_node" (
    "node_epoch" BIGSERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),
    "demand" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "serving_node_pkey" PRIMARY KEY ("node_epoch")
);

-- CreateTable
CREATE TABLE "quota_lease" (
    "line_item_id" TEXT NOT NULL,
    "node_epoch" BIGINT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "granted" BIGINT NOT NULL,
    "used" BIGINT NOT NULL DEFAULT 0,
    "rate_per_s" DOUBLE PRECISION NOT NULL,
    "burst" INTEGER NOT NULL,
    "revised_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "quota_lease_pkey" PRIMARY KEY ("node_epoch","line_item_id"),
    CONSTRAINT "quota_lease_used_within_granted" CHECK ("used" BETWEEN 0 AND "granted")
) WITH (fillfactor = 50);

-- CreateTable
CREATE TABLE "pacer_term" (
    "shard" INTEGER NOT NULL,
    "holder" BIGINT NOT NULL,
    "term" BIGINT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pacer_term_pkey" PRIMARY KEY ("shard")
);

-- CreateTable
CREATE TABLE "line_pacing" (
    "line_item_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "goal" BIGINT NOT NULL,
    "basis" TEXT NOT NULL,
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    "window_end" TIMESTAMPTZ(3) NOT NULL,
    "plan_digest" TEXT,
    "closed_used" BIGINT NOT NULL,
    "committed" DOUBLE PRECISION NOT NULL,
    "target" DOUBLE PRECISION NOT NULL,
    "delivery_rate" DOUBLE PRECISION NOT NULL,
    "urgency" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "pacing_version" BIGINT NOT NULL,
    "day" JSONB,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "line_pacing_pkey" PRIMARY KEY ("line_item_id")
);

-- CreateTable
CREATE TABLE "pacing_hour" (
    "line_item_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "target" DOUBLE PRECISION NOT NULL,
    "committed" DOUBLE PRECISION NOT NULL,
    "granted" BIGINT NOT NULL,
    "used" BIGINT NOT NULL,
    "short_by" TEXT,

    CONSTRAINT "pacing_hour_pkey" PRIMARY KEY ("line_item_id","hour")
);

-- CreateTable
CREATE TABLE "pacing_plan" (
    "line_item_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "hours" DOUBLE PRECISION[],
    "learning" BOOLEAN NOT NULL,
    "made_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pacing_plan_pkey" PRIMARY KEY ("line_item_id")
);

-- CreateTable
CREATE TABLE "share_hour" (
    "line_item_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "node_epoch" BIGINT NOT NULL,
    "opportunities" BIGINT NOT NULL,
    "served" BIGINT NOT NULL,

    CONSTRAINT "share_hour_pkey" PRIMARY KEY ("line_item_id","hour","node_epoch")
) WITH (fillfactor = 50);

-- AlterTable
ALTER TABLE "line_item_count" ADD COLUMN "mode" TEXT;

-- CreateIndex
CREATE INDEX "quota_lease_line_item_id_idx" ON "quota_lease"("line_item_id");

-- CreateIndex
CREATE INDEX "line_pacing_workspace_id_idx" ON "line_pacing"("workspace_id");

-- CreateIndex
CREATE INDEX "pacing_hour_workspace_id_hour_idx" ON "pacing_hour"("workspace_id", "hour");

-- The one row. Releases that know no leases may still run: an operator asks for leases when none does.
INSERT INTO "serving_mode" ("only_row", "wanted") VALUES (true, 'guard');

-- Fails the statement that calls it, as a violated constraint of that name would.
CREATE FUNCTION "refuse_slots"("constraint_name" text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RAISE check_violation USING MESSAGE = 'slots of goals are refused: ' || constraint_name, CONSTRAINT = constraint_name;
END
$$;

-- Slots that no lease paid for are those of the guard, and count only while it decides. Every statement of the guard, also one of a
-- release that knows no leases and one of a node that was paused, holds a shared lock; a change of the mode waits for them, and counts
-- them all afterwards. The functions read anew after the lock, and so see the change.
CREATE FUNCTION "assert_guard_decides"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('serving_mode'));
    IF EXISTS (SELECT FROM serving_mode WHERE mode <> 'guard') THEN
        PERFORM refuse_slots('goal_slots_by_guard');
    END IF;
    RETURN NEW;
END
$$;
CREATE FUNCTION "await_guard_slots"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('serving_mode'));
    RETURN NEW;
END
$$;
CREATE TRIGGER "line_item_count_by_guard" BEFORE INSERT ON "line_item_count" FOR EACH ROW
    WHEN (NEW."goal_slots" > 0 AND NEW."mode" IS DISTINCT FROM 'lease') EXECUTE FUNCTION "assert_guard_decides"();
CREATE TRIGGER "decision_with_goals_by_guard" BEFORE INSERT ON "decision" FOR EACH ROW
    WHEN (NEW."workspace_id" <> '' AND NEW."goal_line_items" <> '{}') EXECUTE FUNCTION "assert_guard_decides"();
CREATE TRIGGER "serving_mode_awaits_guard" BEFORE UPDATE ON "serving_mode" FOR EACH ROW
    WHEN (OLD."mode" = 'guard' AND NEW."mode" <> 'guard') EXECUTE FUNCTION "await_guard_slots"();

-- Releases up to 0.4.0 give no slots of goals while leases pay for them, and need not find those (migration compact_decisions).
CREATE OR REPLACE FUNCTION "show_goal_slots"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO decision (decision_id, workspace_id, at, request_digest, goal_line_items, archived_in)
        SELECT 'counted_' || gen_random_uuid(), '', now(), '', array_agg(line_item_id), '\x'
        FROM added CROSS JOIN LATERAL generate_series(1, goal_slots)
        WHERE mode IS DISTINCT FROM 'lease' HAVING count(*) > 0;
    RETURN NULL;
END
$$;

-- Releases before this one count shares in Redis: what they store is added to "share_hour" here, each session under a number of its own,
-- so that they never wait for each other. To be dropped by a release that no longer has to run beside them.
CREATE FUNCTION "add_share"("of_line_item" text, "of_hour" timestamptz, "offered" bigint, "given" bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO share_hour (line_item_id, hour, node_epoch, opportunities, served)
        VALUES (of_line_item, of_hour, -pg_backend_pid(), offered, given)
        ON CONFLICT (line_item_id, hour, node_epoch) DO UPDATE
            SET opportunities = share_hour.opportunities + excluded.opportunities, served = share_hour.served + excluded.served
$$;
CREATE FUNCTION "add_shares_of_count"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_share(NEW.line_item_id, NEW.hour, NEW.share_opportunities, NEW.share_servings);
    RETURN NULL;
END
$$;
CREATE FUNCTION "add_shares_of_decision"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_share(one.id, date_trunc('hour', NEW.at, 'UTC'), sum(one.offered)::bigint, sum(one.given)::bigint)
        FROM (SELECT unnest(NEW.share_opportunities) AS id, 1 AS offered, 0 AS given
              UNION ALL SELECT unnest(NEW.share_servings), 0, 1) AS one
        GROUP BY one.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER "line_item_count_adds_shares" AFTER INSERT ON "line_item_count" FOR EACH ROW
    WHEN (NEW."mode" IS NULL AND NEW."share_opportunities" + NEW."share_servings" > 0) EXECUTE FUNCTION "add_shares_of_count"();
CREATE TRIGGER "decision_adds_shares" AFTER INSERT ON "decision" FOR EACH ROW
    WHEN (NEW."workspace_id" <> '' AND NEW."share_opportunities" <> '{}') EXECUTE FUNCTION "add_shares_of_decision"();

-- What they stored before, within the window of a share. The triggers above keep them waiting until this is done.
INSERT INTO "share_hour" ("line_item_id", "hour", "node_epoch", "opportunities", "served")
    SELECT id, hour, 0, sum(offered), sum(given)
    FROM (SELECT line_item_id AS id, hour, share_opportunities AS offered, share_servings AS given FROM line_item_count
          WHERE hour >= now() - interval '25 hours' AND share_opportunities + share_servings > 0
          UNION ALL
          SELECT unnest(share_opportunities), date_trunc('hour', at, 'UTC'), 1, 0 FROM decision WHERE at >= now() - interval '25 hours'
          UNION ALL
          SELECT unnest(share_servings), date_trunc('hour', at, 'UTC'), 0, 1 FROM decision WHERE at >= now() - interval '25 hours') AS counted
    GROUP BY id, hour;
