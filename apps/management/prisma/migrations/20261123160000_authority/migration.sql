-- The declared and the applied review of an operation; operations from before have none.
ALTER TABLE "operation" ADD COLUMN "review" JSONB;

-- The people of workspaces, projected from identity.events.
CREATE TABLE "known_account" (
    "account_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "owner_user_id" TEXT,
    "is_active" BOOLEAN NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "known_account_pkey" PRIMARY KEY ("account_id")
);
CREATE INDEX "known_account_workspace_id_idx" ON "known_account"("workspace_id");

CREATE TABLE "known_member" (
    "membership_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "account_id" TEXT,
    "roles" TEXT[],
    "is_active" BOOLEAN NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "known_member_pkey" PRIMARY KEY ("membership_id")
);
CREATE INDEX "known_member_workspace_id_idx" ON "known_member"("workspace_id");

CREATE TABLE "known_user" (
    "user_id" TEXT NOT NULL,
    "email_digest" TEXT,
    "version" INTEGER NOT NULL,

    CONSTRAINT "known_user_pkey" PRIMARY KEY ("user_id")
);
CREATE INDEX "known_user_email_digest_idx" ON "known_user"("email_digest");

-- The clock asks which grants and keys have ended.
CREATE INDEX "resource_living_authority_grant" ON "resource"("instant_of"("attributes" ->> 'expires_at'))
WHERE "resource_type" = 'authority_grants' AND "lifecycle_state" IN ('proposed', 'active');
CREATE INDEX "resource_living_machine_key" ON "resource"("instant_of"("attributes" ->> 'not_after'))
WHERE "resource_type" = 'machine_keys' AND "lifecycle_state" IN ('pending', 'active', 'retiring');
CREATE INDEX "resource_retiring_machine_key" ON "resource"("instant_of"("attributes" ->> 'overlap_until'))
WHERE "resource_type" = 'machine_keys' AND "lifecycle_state" IN ('retiring');

-- A key is registered once, whatever became of it.
CREATE INDEX "resource_machine_key_thumbprint" ON "resource"(("attributes" ->> 'thumbprint'))
WHERE "resource_type" = 'machine_keys';
