-- Plans of releases without policies have none.
ALTER TABLE "published_plan" ADD COLUMN "policies_digest" TEXT;
