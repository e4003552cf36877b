-- CreateTable
CREATE TABLE "password" (
    "user_id" TEXT NOT NULL,
    "encoded" TEXT NOT NULL,
    "set_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "password_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "mail_token" (
    "digest" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT,
    "user_id" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_token_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "known_device" (
    "digest" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_device_pkey" PRIMARY KEY ("digest")
);

-- CreateIndex
CREATE INDEX "mail_token_expires_at_idx" ON "mail_token"("expires_at");

-- CreateIndex
CREATE INDEX "known_device_user_id_idx" ON "known_device"("user_id");

-- Partial indexes over the versioned store: the accounts of a person, the sessions of a person, and the invitations of an address.
CREATE INDEX "resource_account_owner" ON "resource"((("attributes" ->> 'owner_user_id')))
WHERE "resource_type" = 'accounts' AND "lifecycle_state" = 'active';

CREATE INDEX "resource_credential_user" ON "resource"((("attributes" ->> 'user_id')))
WHERE "resource_type" = 'credentials' AND "lifecycle_state" = 'active';

CREATE INDEX "resource_invitation_email" ON "resource"((("attributes" ->> 'email')))
WHERE "resource_type" = 'memberships' AND "lifecycle_state" = 'invited';
