-- CreateTable
CREATE TABLE "receipt_key" (
    "kid" TEXT NOT NULL,
    "x" TEXT NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "receipt_key_pkey" PRIMARY KEY ("kid","x")
);

CREATE TRIGGER "receipt_key_is_kept" BEFORE UPDATE OR DELETE ON "receipt_key" FOR EACH ROW EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "receipt_key_is_never_emptied" BEFORE TRUNCATE ON "receipt_key" EXECUTE FUNCTION "refuse_rewriting_history"();
