-- AlterTable
ALTER TABLE "connector_grant" ADD COLUMN "interaction_hash" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "connector_grant_interaction_hash_key" ON "connector_grant"("interaction_hash");
