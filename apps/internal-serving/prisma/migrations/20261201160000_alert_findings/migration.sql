-- AlterTable
ALTER TABLE "alert" ADD COLUMN "podcast_id" TEXT NOT NULL DEFAULT '',
ADD COLUMN "detail" JSONB;

-- CreateTable
CREATE TABLE "alert_finding" (
    "workspace_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "as_of" TIMESTAMPTZ(3) NOT NULL,
    "findings" JSONB NOT NULL,

    CONSTRAINT "alert_finding_pkey" PRIMARY KEY ("workspace_id","kind")
);
