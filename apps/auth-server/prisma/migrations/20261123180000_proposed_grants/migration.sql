-- Whom a proposed authority grant names, so that auth-server can invite that person.
ALTER TABLE "authority_grant" ADD COLUMN "grantee_id" TEXT, ADD COLUMN "grantee_email" TEXT;
CREATE INDEX "authority_grant_grantee_id_idx" ON "authority_grant"("grantee_id");
CREATE INDEX "authority_grant_grantee_email_idx" ON "authority_grant"("grantee_email");
