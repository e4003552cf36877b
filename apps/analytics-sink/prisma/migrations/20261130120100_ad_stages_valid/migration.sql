-- Reads the table once; ads are counted meanwhile.
ALTER TABLE "ad_entry" VALIDATE CONSTRAINT "ad_entry_stage_check";
