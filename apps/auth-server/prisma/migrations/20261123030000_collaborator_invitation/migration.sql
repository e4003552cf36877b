-- AlterTable
ALTER TABLE "collaborated_podcast" ADD COLUMN "title" TEXT;

-- AlterTable
ALTER TABLE "invitation_mail" RENAME COLUMN "membership_id" TO "invitation_id";

-- CreateTable
CREATE TABLE "collaborator_invitation" (
    "id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "account_id" TEXT,
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "collaborator_invitation_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "collaborator_invitation_podcast_id_email_since_key" ON "collaborator_invitation"("podcast_id", "email", "since");

-- CreateIndex
CREATE INDEX "collaborator_invitation_email_idx" ON "collaborator_invitation"("email");

-- Who has access keeps it. Invitations of addresses without an account wait, and no mail is sent for them now.
INSERT INTO "collaborator_invitation" ("id", "podcast_id", "email", "since", "account_id", "answered_at")
SELECT gen_random_uuid()::text, c."podcast_id", c."email", c."since", a."id", CASE WHEN a."id" IS NOT NULL THEN now() END
FROM (SELECT DISTINCT "podcast_id", "email", "since" FROM "collaboration") c
LEFT JOIN LATERAL (
    SELECT "id" FROM "resource"
    WHERE "resource_type" = 'accounts' AND "lifecycle_state" = 'active' AND "attributes"->>'email' = c."email"
    LIMIT 1) a ON true;

INSERT INTO "invitation_mail" ("invitation_id", "sent_at")
SELECT "id", now() FROM "collaborator_invitation";
