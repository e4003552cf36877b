-- TRUNCATE asks no trigger of rows.
CREATE FUNCTION "refuse_emptying_statements"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM "resource" WHERE "resource_type" = 'billing_statements' AND "attributes" ? 'number') THEN
        RAISE EXCEPTION '% of "%" is refused: it has issued statements', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER "statements_are_never_emptied" BEFORE TRUNCATE ON "resource" FOR EACH STATEMENT
EXECUTE FUNCTION "refuse_emptying_statements"();
