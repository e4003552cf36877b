-- CreateTable
CREATE TABLE "packed_decision" (
    "decision_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "packed" BYTEA,
    "archived_in" BYTEA,

    CONSTRAINT "packed_decision_pkey" PRIMARY KEY ("decision_id")
);

-- CreateTable
CREATE TABLE "known_texts" (
    "number" SERIAL NOT NULL,
    "texts" TEXT[],

    CONSTRAINT "known_texts_pkey" PRIMARY KEY ("number")
);

-- CreateTable
CREATE TABLE "line_item_count" (
    "line_item_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "batch_id" UUID NOT NULL,
    "goal_slots" INTEGER NOT NULL,
    "share_servings" INTEGER NOT NULL,
    "share_opportunities" INTEGER NOT NULL,

    CONSTRAINT "line_item_count_pkey" PRIMARY KEY ("line_item_id","hour","batch_id")
);

-- CreateTable
CREATE TABLE "announcement_batch" (
    "batch_id" UUID NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "decision_ids" UUID[],

    CONSTRAINT "announcement_batch_pkey" PRIMARY KEY ("batch_id")
);

-- By workspace and time, and what the archive moves next. Index entries of rows without a packed decision would be of no use.
CREATE INDEX "packed_decision_of_workspace_idx" ON "packed_decision"("workspace_id", "at") WHERE "packed" IS NOT NULL;
CREATE INDEX "packed_decision_at_idx" ON "packed_decision"("at") WHERE "packed" IS NOT NULL;

-- Releases up to 0.4.0 write decisions to "decision". Both tables share one guarantee, the primary key of "packed_decision": a row of
-- such a release claims its id there first, and is not written where that is taken.
CREATE FUNCTION "id_to_uuid"("id" text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (lpad(to_hex(substr(bits, 3, 64)::bit(64)::bigint), 16, '0')
         || lpad(to_hex(substr(bits, 67, 64)::bit(64)::bigint), 16, '0'))::uuid
    FROM (SELECT string_agg((strpos('0123456789abcdefghjkmnpqrstvwxyz', digit) - 1)::bit(5)::text, '' ORDER BY at) AS bits
          FROM regexp_split_to_table(right(id, 26), '') WITH ORDINALITY AS one (digit, at)) AS base32
$$;
CREATE FUNCTION "claim_decision"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO packed_decision (decision_id, workspace_id, at)
        VALUES (id_to_uuid(NEW.decision_id), id_to_uuid(NEW.workspace_id), NEW.at) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER "decision_claims_its_id" BEFORE INSERT ON "decision" FOR EACH ROW WHEN (NEW."workspace_id" <> '')
    EXECUTE FUNCTION "claim_decision"();

-- Such a release recounts goals from "decision" alone. It must find there what newer ones gave: one row without a workspace, already
-- archived, for each statement that stored decisions with goals. To be dropped by a release that no longer has to run beside 0.4.0.
CREATE FUNCTION "show_goal_slots"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO decision (decision_id, workspace_id, at, request_digest, goal_line_items, archived_in)
        SELECT 'counted_' || gen_random_uuid(), '', now(), '', array_agg(line_item_id), '\x'
        FROM added CROSS JOIN LATERAL generate_series(1, goal_slots) HAVING count(*) > 0;
    RETURN NULL;
END
$$;
CREATE TRIGGER "line_item_count_shown" AFTER INSERT ON "line_item_count" REFERENCING NEW TABLE AS "added"
    FOR EACH STATEMENT EXECUTE FUNCTION "show_goal_slots"();
