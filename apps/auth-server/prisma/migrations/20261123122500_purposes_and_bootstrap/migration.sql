-- AlterTable
ALTER TABLE "connector_grant" ADD COLUMN     "purposes" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "account_without_workspace" (
    "account_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_without_workspace_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "account_without_workspace_workspace_id_key" ON "account_without_workspace"("workspace_id");
