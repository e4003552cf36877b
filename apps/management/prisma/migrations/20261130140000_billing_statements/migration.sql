-- CreateTable
CREATE TABLE "billing_number" (
    "workspace_id" TEXT NOT NULL,
    "last" INTEGER NOT NULL,

    CONSTRAINT "billing_number_pkey" PRIMARY KEY ("workspace_id")
);

-- A statement that has its number stays as it is, whatever role asks: only its state, and what is recorded about it afterwards, may change.
-- Its versions and receipts are kept by the triggers of history.
CREATE FUNCTION "refuse_changing_statement"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    later CONSTANT TEXT[] := ARRAY['files', 'payment_ref', 'reversal', 'problem', 'state_reason'];
BEGIN
    IF TG_OP = 'UPDATE' AND NEW."id" = OLD."id" AND NEW."workspace_id" = OLD."workspace_id" AND NEW."resource_type" = OLD."resource_type"
        AND NEW."created_at" = OLD."created_at"
        AND NEW."attributes" - later = OLD."attributes" - later
        AND (OLD."attributes" -> 'files' IS NULL OR OLD."attributes" -> 'files' = NEW."attributes" -> 'files')
        AND (OLD."attributes" -> 'reversal' IS NULL OR OLD."attributes" -> 'reversal' = NEW."attributes" -> 'reversal') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of statement % is refused: it is issued', TG_OP, OLD."id" USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER "statement_is_kept" BEFORE UPDATE OR DELETE ON "resource" FOR EACH ROW
WHEN (OLD."resource_type" = 'billing_statements' AND OLD."attributes" ? 'number')
EXECUTE FUNCTION "refuse_changing_statement"();
