-- The smallest id that a fact of a request at a time can have: `req_`, and the milliseconds since the epoch as ten digits of Crockford's
-- base 32, as libs/ids writes them.
CREATE FUNCTION "first_fact_id"("at" TIMESTAMPTZ) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT 'req_' || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz', ((floor(extract(epoch FROM "at") * 1000)::bigint >> (45 - 5 * n)) & 31)::int + 1, 1),
        '' ORDER BY n)
    FROM generate_series(0, 9) n
$$;

-- This migration and the next two make `fact` a table with a partition for each month while facts are being stored. What is there now
-- becomes the partition of everything before a month that is still to come; so only this bound must be proven of it, and the next
-- migration does that without holding up anybody. A new installation has no facts: its first month is the present one.
DO $$
DECLARE
    "month" TIMESTAMPTZ := date_trunc('month', now(), 'UTC');
    "newest" TEXT := (SELECT max("fact_id") FROM "fact");
BEGIN
    IF "newest" IS NOT NULL THEN
        "month" := date_trunc('month', now() + interval '1 month' + interval '2 days', 'UTC');
    END IF;
    -- A clock that was wrong may have named later months.
    WHILE "newest" LIKE 'req\_%' AND "newest" >= "first_fact_id"("month") LOOP
        "month" := date_trunc('month', "month" + interval '45 days', 'UTC');
        IF "month" > now() + interval '10 years' THEN
            RAISE EXCEPTION 'The fact % is of no month of the next ten years. Ask who made this id before you upgrade.', "newest";
        END IF;
    END LOOP;
    EXECUTE format('ALTER TABLE "fact" ADD CONSTRAINT "fact_bound" CHECK ("fact_id" < %L) NOT VALID', "first_fact_id"("month"));
END $$;
