-- Ads that were delivered before there were the stages `served` and `confirmed`: each serving once, in the first of its downloads, as known
-- since that delivery. Nobody knows any more what was written without being delivered. Reads the ads once; facts wait on the bus meanwhile.
INSERT INTO "ad_entry" ("recorded_at", "methodology_version", "lists_version", "restates", "stage", "quantity", "serving_id", "listener_key",
    "window_on", "workspace_id", "podcast_id", "episode_id", "campaign_id", "line_item_id", "creative_id", "break_key", "slot", "hour",
    "country", "region", "app", "device", "platform", "operating_system")
SELECT coalesce("e"."recorded_at", now()), coalesce("e"."methodology_version", 'unknown'), coalesce("e"."lists_version", 'unknown'), false,
    "a"."stage", 1, "a"."serving_id", "a"."listener_key", "a"."window_on", "a"."workspace_id", "a"."podcast_id", "a"."episode_id",
    "a"."campaign_id", "a"."line_item_id", "a"."creative_id", "a"."break_key", "a"."slot", date_trunc('hour', "a"."started_at", 'UTC'),
    "a"."country", "a"."region", "a"."app", "a"."device", "a"."platform", "a"."operating_system"
FROM (
    SELECT DISTINCT ON ("stage", "serving_id") * FROM "ad_delivered" CROSS JOIN (VALUES ('served'), ('confirmed')) AS "of" ("stage")
    WHERE "stage" = 'served' OR "counted"
    ORDER BY "stage", "serving_id", "started_at", "listener_key", "episode_id", "window_on", "break_key", "slot", "creative_id") "a"
LEFT JOIN LATERAL (
    SELECT "recorded_at", "methodology_version", "lists_version" FROM "ad_entry" "d"
    WHERE "d"."serving_id" = "a"."serving_id" AND "d"."stage" = 'delivered' AND "d"."quantity" = 1
        AND ("d"."listener_key", "d"."episode_id", "d"."window_on") = ("a"."listener_key", "a"."episode_id", "a"."window_on")
    ORDER BY "d"."id" DESC LIMIT 1) "e" ON true
ORDER BY coalesce("e"."recorded_at", now());

INSERT INTO "ad_hour" AS "h" ("workspace_id", "podcast_id", "campaign_id", "line_item_id", "creative_id", "hour", "country", "region", "app",
    "device", "platform", "operating_system", "decided", "delivered", "billable", "served", "confirmed")
SELECT "workspace_id", "podcast_id", "campaign_id", "line_item_id", "creative_id", "hour", "country", "region", "app", "device", "platform",
    "operating_system", 0, 0, 0, sum("quantity") FILTER (WHERE "stage" = 'served'),
    coalesce(sum("quantity") FILTER (WHERE "stage" = 'confirmed'), 0)
FROM "ad_entry" WHERE "stage" IN ('served', 'confirmed') GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
ON CONFLICT ("workspace_id", "podcast_id", "campaign_id", "line_item_id", "creative_id", "hour", "country", "region", "app", "device",
    "platform", "operating_system") DO UPDATE SET "served" = EXCLUDED."served", "confirmed" = EXCLUDED."confirmed";

-- Servings of the last 92 days get a cohort. What their decisions were for was not told: files, which are delivered later than streams.
UPDATE "ad_serving" "s" SET "line_item_id" = "e"."line_item_id", "workspace_id" = "e"."workspace_id", "surface_class" = 'download'
FROM "ad_entry" "e"
WHERE "e"."serving_id" = "s"."serving_id" AND "e"."stage" = 'decided' AND "s"."decided_at" >= now() - interval '92 days';

UPDATE "ad_serving" "s" SET "reached" = 1 | "r"."served" | "r"."delivered" | "r"."held" | "r"."reports"
FROM (
    SELECT "n"."serving_id", "d"."served", "d"."delivered", CASE WHEN "d"."delivered" = 0 THEN "d"."held" ELSE 0 END AS "held",
        (SELECT coalesce(bit_or(CASE "event" WHEN 'start' THEN 16 ELSE 32 END), 0) FROM "client_event" "c"
         WHERE "c"."serving_id" = "n"."serving_id" AND "c"."event" IN ('start', 'complete') AND "c"."judgement" = 'eligible') AS "reports"
    FROM "ad_serving" "n" CROSS JOIN LATERAL (
        SELECT CASE WHEN count(*) > 0 THEN 2 ELSE 0 END AS "served",
            CASE WHEN count(*) FILTER (WHERE "a"."counted") > 0 THEN 4 ELSE 0 END AS "delivered",
            CASE WHEN count(*) FILTER (WHERE NOT EXISTS (
                SELECT FROM "session" "o" JOIN "velocity_day" "v" ON "v"."day" = "o"."window_on" AND "v"."infeasible" AND "v"."decision" = 'reject'
                    AND ("v"."kind" = 'listener' AND "v"."key" = "o"."listener_key"
                        OR "v"."kind" = 'address' AND "v"."key" = "o"."address_key" AND NOT "o"."address_safe")
                WHERE ("o"."listener_key", "o"."episode_id", "o"."window_on") = ("a"."listener_key", "a"."episode_id", "a"."window_on"))) > 0
            THEN 8 ELSE 0 END AS "held"
        FROM "ad_delivered" "a" WHERE "a"."serving_id" = "n"."serving_id") "d"
    WHERE "n"."line_item_id" IS NOT NULL) "r"
WHERE "s"."serving_id" = "r"."serving_id";

INSERT INTO "serving_cohort" ("workspace_id", "line_item_id", "surface_class", "quarter", "decided", "served", "delivered", "held",
    "client_started", "client_completed")
SELECT "workspace_id", "line_item_id", "surface_class", date_bin('15 minutes', "decided_at", 'epoch'::timestamptz), count(*),
    sum("reached" >> 1 & 1), sum("reached" >> 2 & 1), sum("reached" >> 3 & 1), sum("reached" >> 4 & 1), sum("reached" >> 5 & 1)
FROM "ad_serving" WHERE "line_item_id" IS NOT NULL GROUP BY 1, 2, 3, 4;
