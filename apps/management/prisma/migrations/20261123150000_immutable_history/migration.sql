-- AlterTable
ALTER TABLE "idempotency_record" ADD COLUMN "unversioned_digest" TEXT;

-- History is written once (ADR 39). No role may change it: not a service's, by grants, and none at all, by triggers.
CREATE FUNCTION "refuse_rewriting_history"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of "%" is refused: history is written once', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER "revision_is_kept" BEFORE UPDATE OR DELETE ON "revision" FOR EACH ROW EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "revision_is_never_emptied" BEFORE TRUNCATE ON "revision" EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "receipt_is_kept" BEFORE UPDATE OR DELETE ON "receipt" FOR EACH ROW EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "receipt_is_never_emptied" BEFORE TRUNCATE ON "receipt" EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "change_is_kept" BEFORE UPDATE OR DELETE ON "change" FOR EACH ROW EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "change_is_never_emptied" BEFORE TRUNCATE ON "change" EXECUTE FUNCTION "refuse_rewriting_history"();

-- An event is marked as published once, and nothing else of it changes.
CREATE TRIGGER "event_is_published_once" BEFORE UPDATE ON "outbox" FOR EACH ROW
WHEN (OLD."published_at" IS NOT NULL OR (OLD."position", OLD."key", OLD."event_id", OLD."type", OLD."payload")
      IS DISTINCT FROM (NEW."position", NEW."key", NEW."event_id", NEW."type", NEW."payload"))
EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "event_is_kept" BEFORE DELETE ON "outbox" FOR EACH ROW EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "outbox_is_never_emptied" BEFORE TRUNCATE ON "outbox" EXECUTE FUNCTION "refuse_rewriting_history"();

-- An operation that has ended stays as it is.
CREATE TRIGGER "operation_ends_once" BEFORE UPDATE ON "operation" FOR EACH ROW
WHEN (OLD."state" IN ('succeeded', 'failed', 'cancelled') AND OLD."state" <> NEW."state")
EXECUTE FUNCTION "refuse_rewriting_history"();

-- The roles of services got every right to new tables.
DO $$
DECLARE
    held RECORD;
BEGIN
    FOR held IN
        SELECT DISTINCT c.relname AS "table", r.rolname AS "role"
        FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('revision', 'receipt', 'change', 'outbox')
          AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE UPDATE, DELETE ON %I FROM %I', held."table", held."role");
        IF held."table" = 'outbox' THEN
            EXECUTE format('GRANT UPDATE ("published_at") ON %I TO %I', held."table", held."role");
        END IF;
    END LOOP;
END
$$;
