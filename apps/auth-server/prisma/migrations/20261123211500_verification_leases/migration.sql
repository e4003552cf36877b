-- CreateTable
CREATE TABLE "verification_position" (
    "id" INTEGER NOT NULL,
    "position" BIGINT NOT NULL,

    CONSTRAINT "verification_position_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "verification_change" (
    "position" BIGINT NOT NULL,
    "transaction_id" BIGINT NOT NULL,
    "account_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "verification_change_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "verification_holder" (
    "id" TEXT NOT NULL,
    "acknowledged" BIGINT NOT NULL,
    "lease_ms" INTEGER NOT NULL,
    "expulsion" TEXT,

    CONSTRAINT "verification_holder_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "verification_change_transaction_id_idx" ON "verification_change"("transaction_id");

-- Gateways keep verified principals under leases (ADR 51). Every transaction that changes what verification reads says so in
-- "verification_change", by triggers, so that nothing that writes can forget it.

-- The lock of those who change without awaiting holders (shared, from the change to its commit), and of who renews leases (exclusive, tried).
CREATE FUNCTION "verification_lock"() RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$ SELECT hashtextextended('verification', 51) $$;

-- Records a change. The position is locked until the commit, so positions follow the order of commits: a reader misses none.
CREATE FUNCTION "note_verification_change"("touched" TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    own CONSTANT BIGINT := pg_current_xact_id()::text::bigint;
    noted CONSTANT TEXT[] := array(SELECT c."account_id" FROM "verification_change" c WHERE c."transaction_id" = own AND c."at" = now());
BEGIN
    IF touched = ANY (noted) OR '' = ANY (noted) THEN
        RETURN;
    END IF;
    -- A session that does not await holders afterwards (of an older release, of a person at the database) commits after their leases.
    IF cardinality(noted) = 0 AND current_setting('longwave.awaits_holders', true) IS DISTINCT FROM 'on' THEN
        PERFORM pg_advisory_xact_lock_shared("verification_lock"());
        PERFORM pg_sleep(coalesce(max(h."lease_ms"), 0) / 1000.0) FROM "verification_holder" h;
    END IF;
    WITH newest AS (
        INSERT INTO "verification_position" AS p ("id", "position") VALUES (1, 1)
        ON CONFLICT ("id") DO UPDATE SET "position" = p."position" + 1 RETURNING p."position"
    )
    INSERT INTO "verification_change" ("position", "transaction_id", "account_id") SELECT newest."position", own, touched FROM newest;
END
$$;

-- The accounts whose credentials a row is read for; empty text: every account.
CREATE FUNCTION "accounts_verified_by"("source" TEXT, "changed" JSONB) RETURNS SETOF TEXT LANGUAGE plpgsql STABLE AS $$
BEGIN
    CASE source
    WHEN 'resource' THEN
        IF changed->>'resource_type' = 'credentials' THEN
            RETURN NEXT coalesce(changed->'attributes'->>'account_id', '');
        ELSIF changed->>'resource_type' IN ('accounts', 'memberships', 'users', 'oauth_clients') THEN
            RETURN NEXT '';
        END IF;
    WHEN 'unique_key' THEN
        IF changed->>'resource_type' IN ('credentials', 'oauth_clients') THEN
            RETURN NEXT coalesce((SELECT r."attributes"->>'account_id' FROM "resource" r WHERE r."id" = changed->>'resource_id'), '');
        END IF;
    WHEN 'session_use' THEN
        RETURN QUERY SELECT r."attributes"->>'account_id' FROM "resource" r WHERE r."id" = changed->>'credential_id';
    WHEN 'oauth_artifact' THEN
        RETURN NEXT coalesce((SELECT g."account_id" FROM "connector_grant" g WHERE g."id" = changed->>'grant_id'), '');
    WHEN 'connector_grant' THEN
        RETURN NEXT changed->>'account_id';
    WHEN 'collaborator_invitation' THEN
        RETURN QUERY SELECT changed->>'account_id' WHERE changed->>'account_id' IS NOT NULL;
    WHEN 'collaboration' THEN
        RETURN QUERY SELECT DISTINCT i."account_id" FROM "collaborator_invitation" i
            WHERE i."podcast_id" = changed->>'podcast_id' AND i."email" = changed->>'email' AND i."account_id" IS NOT NULL;
    WHEN 'collaborated_podcast' THEN
        RETURN QUERY SELECT DISTINCT i."account_id" FROM "collaborator_invitation" i
            WHERE i."podcast_id" = changed->>'id' AND i."account_id" IS NOT NULL;
    WHEN 'authority_grant' THEN
        RETURN QUERY SELECT '' WHERE changed->>'user_id' IS NOT NULL;
    ELSE
        RETURN NEXT '';
    END CASE;
END
$$;

-- Its arguments are the columns that verification does not read; without arguments TG_ARGV is null.
CREATE FUNCTION "note_what_verification_reads"() RETURNS TRIGGER LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    before CONSTANT JSONB := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) - coalesce(TG_ARGV, '{}') END;
    after CONSTANT JSONB := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) - coalesce(TG_ARGV, '{}') END;
BEGIN
    IF before IS DISTINCT FROM after THEN
        PERFORM "note_verification_change"(touched)
        FROM (SELECT DISTINCT touched FROM unnest(ARRAY[before, after]) AS changed, "accounts_verified_by"(TG_TABLE_NAME, changed) AS touched
              WHERE changed IS NOT NULL ORDER BY touched) AS accounts;
    END IF;
    RETURN NULL;
END
$$;

-- At the end of the transaction: the lock of the position is its last one.
CREATE CONSTRAINT TRIGGER "verification_reads_resource" AFTER INSERT OR UPDATE OR DELETE ON "resource" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('version', 'digest', 'operation_id', 'updated_at');
CREATE CONSTRAINT TRIGGER "verification_reads_unique_key" AFTER INSERT OR UPDATE OR DELETE ON "unique_key" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"();
CREATE CONSTRAINT TRIGGER "verification_reads_password" AFTER INSERT OR UPDATE OR DELETE ON "password" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('encoded');
CREATE CONSTRAINT TRIGGER "verification_reads_second_factor" AFTER INSERT OR UPDATE OR DELETE ON "second_factor" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('sealed', 'last_step');
CREATE CONSTRAINT TRIGGER "verification_reads_session_use" AFTER INSERT OR UPDATE OR DELETE ON "session_use" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('password_given_at', 'last_used_at');
CREATE CONSTRAINT TRIGGER "verification_reads_oauth_artifact" AFTER UPDATE ON "oauth_artifact" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (OLD."model" = 'AccessToken') EXECUTE FUNCTION "note_what_verification_reads"('consumed_at');
-- Tokens that have expired are removed by the thousand, and nobody keeps their principals; auth-server's clock may be behind by some seconds.
CREATE CONSTRAINT TRIGGER "verification_reads_oauth_artifact_end" AFTER DELETE ON "oauth_artifact" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (OLD."model" = 'AccessToken' AND OLD."expires_at" > now() - interval '10 seconds')
EXECUTE FUNCTION "note_what_verification_reads"();
CREATE CONSTRAINT TRIGGER "verification_reads_connector_grant" AFTER INSERT OR UPDATE OR DELETE ON "connector_grant" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('redirect_host', 'interaction_hash', 'last_used_at', 'revoked_reason');
CREATE CONSTRAINT TRIGGER "verification_reads_account_without_workspace" AFTER INSERT OR UPDATE OR DELETE ON "account_without_workspace" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('since');
CREATE CONSTRAINT TRIGGER "verification_reads_collaborated_podcast" AFTER INSERT OR UPDATE OR DELETE ON "collaborated_podcast" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('version', 'title');
CREATE CONSTRAINT TRIGGER "verification_reads_collaboration" AFTER INSERT OR UPDATE OR DELETE ON "collaboration" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"();
CREATE CONSTRAINT TRIGGER "verification_reads_collaborator_invitation" AFTER INSERT OR UPDATE OR DELETE ON "collaborator_invitation" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('id', 'answered_at');
CREATE CONSTRAINT TRIGGER "verification_reads_authority_grant" AFTER INSERT OR UPDATE OR DELETE ON "authority_grant" DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION "note_what_verification_reads"('version', 'grantee_id', 'grantee_email');

-- What changed after a position, and who holds leases. No row while somebody changes something without awaiting holders: then no lease is
-- renewed. The lock is taken before the changes are read.
CREATE FUNCTION "read_verification_changes"("known" BIGINT)
RETURNS TABLE ("position" BIGINT, "account_ids" TEXT[], "holder_ids" TEXT[]) LANGUAGE plpgsql AS $$
BEGIN
    IF pg_try_advisory_xact_lock("verification_lock"()) THEN
        RETURN QUERY SELECT coalesce((SELECT p."position" FROM "verification_position" p WHERE p."id" = 1), 0),
            array(SELECT c."account_id" FROM "verification_change" c WHERE c."position" > known ORDER BY c."position"),
            array(SELECT h."id" FROM "verification_holder" h WHERE h."expulsion" IS NULL);
    END IF;
END
$$;
