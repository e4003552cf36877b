-- AlterTable
ALTER TABLE "user_agent" ADD COLUMN     "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- CreateIndex
CREATE INDEX "user_agent_last_used_at_idx" ON "user_agent"("last_used_at");
