-- AlterTable
ALTER TABLE "binding" ADD COLUMN     "address_key" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "app" TEXT,
ADD COLUMN     "system" TEXT;

-- CreateIndex
CREATE INDEX "binding_address_key_episode_id_idx" ON "binding"("address_key", "episode_id");
