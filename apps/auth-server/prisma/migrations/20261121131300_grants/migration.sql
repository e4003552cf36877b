-- CreateTable
CREATE TABLE "collaborated_podcast" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "collaborated_podcast_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "collaboration" (
    "podcast_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,

    CONSTRAINT "collaboration_pkey" PRIMARY KEY ("podcast_id","email")
);

-- CreateIndex
CREATE INDEX "collaboration_email_idx" ON "collaboration"("email");

-- Partial indexes over the versioned store: every request asks for the memberships of an account, and for the owner of a workspace.
CREATE INDEX "resource_membership_of" ON "resource"((("attributes" ->> 'member_account_id')))
WHERE "resource_type" = 'memberships' AND "lifecycle_state" = 'active';

CREATE INDEX "resource_account_email" ON "resource"((("attributes" ->> 'email')))
WHERE "resource_type" = 'accounts' AND "lifecycle_state" = 'active';
