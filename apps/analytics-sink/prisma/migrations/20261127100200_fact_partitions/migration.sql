-- The partition key is the primary key itself, so an id is unique in the whole table, not in a partition. It begins with the time of the
-- request (docs/adr/0066-partitions-by-what-the-key-contains.md).
ALTER TABLE "fact" RENAME TO "fact_before";
-- "fact_pkey" stays the key of this one: release 0.6.0 knows by this name that another process has stored the same fact.
ALTER INDEX "fact_at_idx" RENAME TO "fact_before_at_idx";
ALTER INDEX "fact_own_at_idx" RENAME TO "fact_before_own_at_idx";
ALTER INDEX "fact_declared_request_idx" RENAME TO "fact_before_declared_request_idx";
ALTER INDEX "fact_listener_key_idx" RENAME TO "fact_before_listener_key_idx";
ALTER INDEX "fact_previous_listener_key_idx" RENAME TO "fact_before_previous_listener_key_idx";

CREATE TABLE "fact" (LIKE "fact_before" INCLUDING DEFAULTS, CONSTRAINT "fact_all_pkey" PRIMARY KEY ("fact_id")) PARTITION BY RANGE ("fact_id");
CREATE INDEX "fact_at_idx" ON "fact"("at");
CREATE INDEX "fact_own_at_idx" ON "fact"("at") WHERE "lists_version" NOT LIKE 'declared by %';
CREATE INDEX "fact_declared_request_idx" ON "fact"("request_id") WHERE "lists_version" LIKE 'declared by %';
CREATE INDEX "fact_listener_key_idx" ON "fact" USING HASH ("listener_key");
CREATE INDEX "fact_previous_listener_key_idx" ON "fact" USING HASH ("previous_listener_key") WHERE "previous_listener_key" IS NOT NULL;

-- Facts of the months before, and all facts that other parties reported: their ids begin with `batch:`.
DO $$
DECLARE
    "bound" TEXT := (SELECT substring(pg_get_constraintdef(oid) FROM '''(req_[0-9a-z]+)''') FROM pg_constraint
                     WHERE conrelid = '"fact_before"'::regclass AND conname = 'fact_bound');
BEGIN
    EXECUTE format('ALTER TABLE "fact" ATTACH PARTITION "fact_before" FOR VALUES FROM (MINVALUE) TO (%L)', "bound");
END $$;
ALTER TABLE "fact_before" DROP CONSTRAINT "fact_bound";

-- Facts of months that have no partition any more, or none yet.
CREATE TABLE "fact_rest" PARTITION OF "fact" DEFAULT;

-- Makes the partition of the UTC month of a time where it is missing; answers whether it did. Service roles make no tables, so it has the
-- rights of the one who migrates. Whoever waits longer than two seconds for the table tries later.
CREATE FUNCTION "add_fact_partition"("at" TIMESTAMPTZ) RETURNS BOOLEAN LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
DECLARE
    "month" TIMESTAMP := date_trunc('month', "at" AT TIME ZONE 'UTC');
    "name" TEXT := 'fact_' || to_char("month", 'YYYYMM');
    "first" TEXT := "first_fact_id"("month" AT TIME ZONE 'UTC');
    "behind" TEXT := "first_fact_id"(("month" + interval '1 month') AT TIME ZONE 'UTC');
    "start" TEXT := (SELECT substring(pg_get_expr(relpartbound, oid) FROM 'TO \(''(req_[0-9a-z]+)''\)') FROM pg_class
                     WHERE oid = '"fact_before"'::regclass);
BEGIN
    IF "first" < "start" OR to_regclass(quote_ident("name")) IS NOT NULL THEN
        RETURN false;
    END IF;
    -- Of two that make the same partition one fails, and tries later. Attaching holds up no reader or writer of other partitions.
    EXECUTE format('CREATE TABLE %I (LIKE "fact" INCLUDING DEFAULTS INCLUDING INDEXES)', "name");
    LOCK TABLE "fact_rest" IN ACCESS EXCLUSIVE MODE;
    -- Facts of a clock that is ahead of ours.
    EXECUTE format('WITH moved AS (DELETE FROM "fact_rest" WHERE "fact_id" >= %L AND "fact_id" < %L RETURNING *)
                    INSERT INTO %I SELECT * FROM moved', "first", "behind", "name");
    EXECUTE format('ALTER TABLE "fact" ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', "name", "first", "behind");
    RETURN true;
END $$;

-- Makes the partitions of the present month and of so many that follow, at most twelve, where they are missing; answers how many it made.
CREATE FUNCTION "add_fact_partitions"("ahead" INT) RETURNS INT LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT count(*)::int
    FROM generate_series(0, least("ahead", 12)) n
    WHERE "add_fact_partition"((date_trunc('month', now() AT TIME ZONE 'UTC') + n * interval '1 month') AT TIME ZONE 'UTC')
$$;

-- Removes the oldest partition all of whose facts are from before `fact_retention.kept_from`; answers its name, or null when there is
-- none. Facts of requests that stay go to `fact_rest` first. It waits until the month after it has begun for four days: listeners have
-- other keys by then, so only who has listened to an episode every day since has requests that stay. Requests of other parties, which
-- all stay, are of other listeners.
CREATE FUNCTION "end_fact_partition"() RETURNS TEXT LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
DECLARE
    "bound" TIMESTAMPTZ := (SELECT least("kept_from", now() - interval '365 days') FROM "fact_retention");
    "name" TEXT;
    "is_young" BOOLEAN;
BEGIN
    SELECT c.relname INTO "name" FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = '"fact"'::regclass AND c.relname ~ '^fact_\d{6}$'
        AND ((to_date(substr(c.relname, 6), 'YYYYMM') + interval '1 month 4 days') AT TIME ZONE 'UTC') <= "bound"
    ORDER BY c.relname LIMIT 1;
    IF "name" IS NULL THEN
        RETURN NULL;
    END IF;
    LOCK TABLE "fact" IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE "at" >= $1)', "name") INTO "is_young" USING "bound";
    IF "is_young" THEN
        RAISE EXCEPTION 'The partition % has facts that are younger than %.', "name", "bound";
    END IF;
    EXECUTE format('ALTER TABLE "fact" DETACH PARTITION %I', "name");
    EXECUTE format(
        'INSERT INTO "fact" SELECT f.* FROM (
             SELECT DISTINCT "listener_key", "episode_id" FROM "served_request"
             WHERE "started_at" < $1 - interval ''1 day''
                 AND "user_agent_digest" <> ''d1990f97a1f4fe7b8e86da8c03c9dd3f7d536c14aa4a6f9eedab07f34cd961b0'') r
         CROSS JOIN LATERAL (
             SELECT * FROM %I f WHERE f."listener_key" = r."listener_key" AND f."episode_id" = r."episode_id" OFFSET 0) f', "name")
        USING "bound";
    EXECUTE format('DROP TABLE %I', "name");
    RETURN "name";
END $$;

SELECT "add_fact_partitions"(2);
