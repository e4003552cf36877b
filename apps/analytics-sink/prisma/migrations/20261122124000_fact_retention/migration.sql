-- CreateTable
CREATE TABLE "fact_retention" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "kept_from" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "fact_retention_pkey" PRIMARY KEY ("only_row"),
    CONSTRAINT "fact_retention_is_one_row" CHECK ("only_row")
);

-- Requests are inserted in the order of their time, so a small index finds the oldest.
CREATE INDEX "served_request_started_at_idx" ON "served_request" USING brin ("started_at");
