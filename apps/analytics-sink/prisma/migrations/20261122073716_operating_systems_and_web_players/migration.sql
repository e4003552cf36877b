-- AlterTable
ALTER TABLE "ad_delivered" ADD COLUMN     "operating_system" TEXT NOT NULL DEFAULT 'unknown';

-- AlterTable
ALTER TABLE "ad_entry" ADD COLUMN     "operating_system" TEXT NOT NULL DEFAULT 'unknown';

-- AlterTable
ALTER TABLE "ad_hour" DROP CONSTRAINT "ad_hour_pkey",
ADD COLUMN     "operating_system" TEXT NOT NULL DEFAULT 'unknown',
ADD CONSTRAINT "ad_hour_pkey" PRIMARY KEY ("workspace_id", "podcast_id", "campaign_id", "line_item_id", "creative_id", "hour", "country", "region", "app", "device", "platform", "operating_system");

-- AlterTable
ALTER TABLE "download_audience_hour" DROP CONSTRAINT "download_audience_hour_pkey",
ADD COLUMN     "operating_system" TEXT NOT NULL DEFAULT 'unknown',
ADD CONSTRAINT "download_audience_hour_pkey" PRIMARY KEY ("workspace_id", "podcast_id", "episode_id", "hour", "country", "region", "app", "device", "platform", "operating_system");

-- AlterTable
ALTER TABLE "download_change" ADD COLUMN     "operating_system" TEXT NOT NULL DEFAULT 'unknown';

-- AlterTable
ALTER TABLE "fact" ADD COLUMN     "web_player" TEXT;

-- AlterTable
ALTER TABLE "rolling_download" ADD COLUMN     "operating_system" TEXT NOT NULL DEFAULT 'unknown';

-- AlterTable
ALTER TABLE "served_request" ADD COLUMN     "web_player" TEXT;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "operating_system" TEXT NOT NULL DEFAULT 'unknown';

-- The standing bill is kept as it was appended, so that it can be taken back: entries have an operating system from now on.
UPDATE "ad_serving" SET "billed" = regexp_replace("billed"::text, '\}\s*$', ',"operating_system":"unknown"}')::json
WHERE "billed" IS NOT NULL;
