-- AlterTable
ALTER TABLE "fact" ADD COLUMN     "address_safe" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "internal" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "preload" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "served_request" ADD COLUMN     "address_key" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "address_safe" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "address_key" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "address_safe" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "held" TEXT,
ADD COLUMN     "qualified" BOOLEAN NOT NULL DEFAULT false;

UPDATE "session" SET "qualified" = "counted";

-- AlterTable
ALTER TABLE "download_hour" ADD COLUMN     "first_touch_24h" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "last_touch_24h" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "download_audience_hour" ADD COLUMN     "first_touch_24h" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "last_touch_24h" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "rolling_download" (
    "listener_key" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "last_touch" BOOLEAN NOT NULL,
    "counted" BOOLEAN NOT NULL,
    "address_key" TEXT NOT NULL,
    "address_safe" BOOLEAN NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "platform" TEXT NOT NULL,

    CONSTRAINT "rolling_download_pkey" PRIMARY KEY ("listener_key","episode_id","started_at")
);

-- CreateTable
CREATE TABLE "velocity_day" (
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "downloads" BIGINT NOT NULL,
    "infeasible" BOOLEAN NOT NULL DEFAULT false,
    "decision" TEXT,

    CONSTRAINT "velocity_day_pkey" PRIMARY KEY ("kind","key","day")
);

-- CreateTable
CREATE TABLE "anomaly_decision" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "decision" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "decided_by" TEXT NOT NULL,
    "decided_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "anomaly_decision_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "download_change" (
    "id" BIGSERIAL NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "methodology_version" TEXT NOT NULL,
    "lists_version" TEXT NOT NULL,
    "restates" BOOLEAN NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "downloads" BIGINT NOT NULL,
    "first_touch_24h" BIGINT NOT NULL,
    "last_touch_24h" BIGINT NOT NULL,

    CONSTRAINT "download_change_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "served_request_listener_key_episode_id_started_at_idx" ON "served_request"("listener_key", "episode_id", "started_at");

-- CreateIndex
CREATE INDEX "session_address_key_idx" ON "session"("address_key");

-- CreateIndex
CREATE INDEX "rolling_download_address_key_idx" ON "rolling_download"("address_key");

-- CreateIndex
CREATE INDEX "rolling_download_workspace_id_podcast_id_started_at_idx" ON "rolling_download"("workspace_id", "podcast_id", "started_at");

-- CreateIndex
CREATE INDEX "velocity_day_infeasible_day_idx" ON "velocity_day"("infeasible", "day");

-- CreateIndex
CREATE INDEX "download_change_workspace_id_podcast_id_hour_idx" ON "download_change"("workspace_id", "podcast_id", "hour");

-- What was counted before opens the record of changes. Its lists and its rolling windows were not noted.
INSERT INTO "download_change" ("methodology_version", "lists_version", "restates", "workspace_id", "podcast_id", "episode_id", "hour",
    "country", "region", "app", "device", "platform", "downloads", "first_touch_24h", "last_touch_24h")
SELECT "methodology_version", 'unknown', false, "workspace_id", "podcast_id", "episode_id", date_trunc('hour', "started_at", 'UTC'),
    "country", "region", "app", "device", "platform", count(*), 0, 0
FROM "session" WHERE "counted" GROUP BY 1, 4, 5, 6, 7, 8, 9, 10, 11, 12;

-- Each listener's downloads of a day. Address keys were not kept with sessions, so days before this have no limit by address.
INSERT INTO "velocity_day" ("kind", "key", "day", "downloads")
SELECT 'listener', "listener_key", "window_on", count(*) FROM "session" WHERE "qualified" GROUP BY 2, 3;

-- Ledgers are written once.
CREATE FUNCTION "refuse_to_rewrite"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER "download_change_is_append_only" BEFORE UPDATE OR DELETE ON "download_change"
FOR EACH STATEMENT EXECUTE FUNCTION "refuse_to_rewrite"();
CREATE TRIGGER "anomaly_decision_is_append_only" BEFORE UPDATE OR DELETE ON "anomaly_decision"
FOR EACH STATEMENT EXECUTE FUNCTION "refuse_to_rewrite"();

-- AlterTable
ALTER TABLE "ad_delivered" ADD COLUMN     "app" TEXT NOT NULL DEFAULT 'unknown',
ADD COLUMN     "billable" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "counted" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "country" TEXT NOT NULL DEFAULT 'unknown',
ADD COLUMN     "device" TEXT NOT NULL DEFAULT 'unknown',
ADD COLUMN     "platform" TEXT NOT NULL DEFAULT 'unknown',
ADD COLUMN     "region" TEXT NOT NULL DEFAULT 'unknown';

UPDATE "ad_delivered" "a" SET "country" = "s"."country", "region" = "s"."region", "app" = "s"."app", "device" = "s"."device",
    "platform" = "s"."platform"
FROM "session" "s" WHERE ("s"."listener_key", "s"."episode_id", "s"."window_on") = ("a"."listener_key", "a"."episode_id", "a"."window_on");

-- CreateTable
CREATE TABLE "ad_serving" (
    "serving_id" TEXT NOT NULL,
    "decided_at" TIMESTAMPTZ(3),
    "billed" JSON,

    CONSTRAINT "ad_serving_pkey" PRIMARY KEY ("serving_id")
);

-- CreateTable
CREATE TABLE "ad_entry" (
    "id" BIGSERIAL NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "methodology_version" TEXT NOT NULL,
    "lists_version" TEXT NOT NULL,
    "restates" BOOLEAN NOT NULL,
    "stage" TEXT NOT NULL,
    "quantity" INTEGER NOT NULL,
    "serving_id" TEXT NOT NULL,
    "listener_key" TEXT,
    "window_on" DATE,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "creative_id" TEXT NOT NULL,
    "break_key" TEXT NOT NULL,
    "slot" INTEGER NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "platform" TEXT NOT NULL,

    CONSTRAINT "ad_entry_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ad_entry_quantity_check" CHECK ("quantity" IN (-1, 1)),
    CONSTRAINT "ad_entry_stage_check" CHECK ("stage" IN ('decided', 'delivered', 'billable')),
    CONSTRAINT "ad_entry_download_check" CHECK (("stage" = 'decided') = ("listener_key" IS NULL) AND ("stage" = 'decided') = ("window_on" IS NULL))
);

-- CreateTable
CREATE TABLE "ad_hour" (
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "creative_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "platform" TEXT NOT NULL,
    "decided" BIGINT NOT NULL,
    "delivered" BIGINT NOT NULL,
    "billable" BIGINT NOT NULL,

    CONSTRAINT "ad_hour_pkey" PRIMARY KEY ("workspace_id","podcast_id","campaign_id","line_item_id","creative_id","hour","country","region","app","device","platform")
);

-- CreateIndex
CREATE INDEX "ad_delivered_serving_id_idx" ON "ad_delivered"("serving_id");

-- CreateIndex
CREATE UNIQUE INDEX "ad_entry_decided_once_idx" ON "ad_entry"("serving_id") WHERE "stage" = 'decided';

-- CreateIndex
CREATE INDEX "ad_entry_serving_id_idx" ON "ad_entry"("serving_id");

-- CreateIndex
CREATE INDEX "ad_entry_workspace_id_hour_idx" ON "ad_entry"("workspace_id", "hour");

-- CreateIndex
CREATE INDEX "ad_hour_workspace_id_campaign_id_hour_idx" ON "ad_hour"("workspace_id", "campaign_id", "hour");

-- CreateIndex
CREATE INDEX "ad_hour_workspace_id_line_item_id_hour_idx" ON "ad_hour"("workspace_id", "line_item_id", "hour");

-- CreateIndex
CREATE INDEX "ad_hour_workspace_id_creative_id_hour_idx" ON "ad_hour"("workspace_id", "creative_id", "hour");

-- What was delivered before opens the ledger. Whether it was to be billed was not noted.
INSERT INTO "ad_entry" ("methodology_version", "lists_version", "restates", "stage", "quantity", "serving_id", "listener_key", "window_on", "workspace_id", "podcast_id",
    "episode_id", "campaign_id", "line_item_id", "creative_id", "break_key", "slot", "hour", "country", "region", "app", "device", "platform")
SELECT 'longwave-1.0/ptmg-2.3', 'unknown', false, 'delivered', 1, "serving_id", "listener_key", "window_on", "workspace_id", "podcast_id", "episode_id", "campaign_id",
    "line_item_id", "creative_id", "break_key", "slot", date_trunc('hour', "started_at", 'UTC'), "country", "region", "app", "device", "platform"
FROM "ad_delivered";
INSERT INTO "ad_hour"
SELECT "workspace_id", "podcast_id", "campaign_id", "line_item_id", "creative_id", "hour", "country", "region", "app", "device", "platform",
    0, sum("quantity"), 0
FROM "ad_entry" GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;

CREATE TRIGGER "ad_entry_is_append_only" BEFORE UPDATE OR DELETE ON "ad_entry"
FOR EACH STATEMENT EXECUTE FUNCTION "refuse_to_rewrite"();

-- CreateTable
CREATE TABLE "client_event" (
    "fact_id" TEXT NOT NULL,
    "serving_id" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "sequence" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "late" BOOLEAN NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "episode_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "creative_id" TEXT NOT NULL,
    "break_key" TEXT NOT NULL,
    "slot" INTEGER NOT NULL,
    "listener_key" TEXT NOT NULL,
    "address_verdict" TEXT NOT NULL,
    "user_agent_digest" TEXT,
    "country" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "lists_version" TEXT NOT NULL,
    "judgement" TEXT,
    "judged_by" TEXT,
    "counted_at" TIMESTAMPTZ(3),

    CONSTRAINT "client_event_pkey" PRIMARY KEY ("fact_id")
);

-- CreateTable
CREATE TABLE "client_event_hour" (
    "workspace_id" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "line_item_id" TEXT NOT NULL,
    "creative_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "event" TEXT NOT NULL,
    "events" BIGINT NOT NULL,

    CONSTRAINT "client_event_hour_pkey" PRIMARY KEY ("workspace_id","podcast_id","campaign_id","line_item_id","creative_id","hour","event")
);

-- CreateIndex
CREATE INDEX "client_event_serving_id_idx" ON "client_event"("serving_id");

-- CreateIndex
CREATE INDEX "client_event_workspace_id_at_idx" ON "client_event"("workspace_id", "at");

-- CreateIndex
CREATE INDEX "client_event_waiting_idx" ON "client_event"("user_agent_digest") WHERE "judgement" IS NULL;

-- CreateIndex
CREATE INDEX "client_event_hour_workspace_id_hour_idx" ON "client_event_hour"("workspace_id", "hour");
