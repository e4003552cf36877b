-- Answers name the restated hours of their range; most ranges have few.
CREATE INDEX "download_change_restated_idx" ON "download_change"("workspace_id", "podcast_id", "hour") WHERE "restates";
CREATE INDEX "ad_entry_restated_idx" ON "ad_entry"("workspace_id", "hour") WHERE "restates";
