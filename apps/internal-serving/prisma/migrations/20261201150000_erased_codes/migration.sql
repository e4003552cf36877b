-- CreateTable
CREATE TABLE "erased_code" (
    "workspace_id" TEXT NOT NULL,
    "code" BYTEA NOT NULL,
    "erased_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "erased_code_pkey" PRIMARY KEY ("workspace_id","code")
);

-- CreateIndex
CREATE INDEX "erased_code_erased_at_idx" ON "erased_code"("erased_at");
