-- CreateTable
CREATE TABLE "oauth_artifact" (
    "model" TEXT NOT NULL,
    "id_hash" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "grant_id" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_artifact_pkey" PRIMARY KEY ("model","id_hash")
);

-- CreateTable
CREATE TABLE "connector_grant" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "redirect_host" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_reason" TEXT,

    CONSTRAINT "connector_grant_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "oauth_artifact_grant_id_idx" ON "oauth_artifact"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_artifact_expires_at_idx" ON "oauth_artifact"("expires_at");

-- CreateIndex
CREATE INDEX "connector_grant_user_id_created_at_idx" ON "connector_grant"("user_id", "created_at");
