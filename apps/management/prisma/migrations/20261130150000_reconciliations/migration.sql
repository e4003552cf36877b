-- CreateTable
CREATE TABLE "reconciliation_item" (
    "reconciliation_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "source" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "creative_id" TEXT,
    "day" TEXT,
    "ours" BIGINT NOT NULL,
    "theirs" BIGINT NOT NULL,
    "ours_basis" TEXT NOT NULL,
    "theirs_basis" TEXT NOT NULL,
    "ambiguity" TEXT NOT NULL,
    "beyond" BOOLEAN NOT NULL,
    "verdict" TEXT,
    "value" BIGINT,
    "note" TEXT,
    "decided_by" TEXT,
    "adjusted" BIGINT,

    CONSTRAINT "reconciliation_item_pkey" PRIMARY KEY ("reconciliation_id","item_id")
);

-- CreateIndex
CREATE INDEX "reconciliation_item_reconciliation_id_position_idx" ON "reconciliation_item"("reconciliation_id", "position");
