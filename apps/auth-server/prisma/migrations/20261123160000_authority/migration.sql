-- The declared and the applied review of an operation; operations from before have none.
ALTER TABLE "operation" ADD COLUMN "review" JSONB;

-- Authority grants, projected from product.events.
CREATE TABLE "authority_grant" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "user_id" TEXT,
    "role" TEXT NOT NULL,
    "podcast_ids" TEXT[],
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "authority_grant_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "authority_grant_user_id_idx" ON "authority_grant"("user_id");
