-- What the release before changed of servings between the migrations `ads_of_before` and `stages_of_the_release_before`: too many do no
-- harm, because the sweep enters only what is missing. Reads the ads once; facts are counted meanwhile.
INSERT INTO "unentered_serving" ("serving_id")
SELECT "serving_id" FROM "ad_serving"
WHERE "decided_at" >= now() - interval '92 days' AND "line_item_id" IS NULL
UNION
SELECT "serving_id" FROM (
    SELECT * FROM (
        SELECT DISTINCT ON ("stage", "serving_id") "stage", "serving_id", date_trunc('hour', "started_at", 'UTC') AS "hour", "creative_id",
            "break_key", "slot", "country", 1 AS "quantity"
        FROM (
            SELECT 'served' AS "stage", "serving_id", "started_at", "listener_key", "episode_id", "window_on", "break_key", "slot", "creative_id",
                "country" FROM "ad_written"
            UNION ALL
            SELECT "of"."stage", "serving_id", "started_at", "listener_key", "episode_id", "window_on", "break_key", "slot", "creative_id", "country"
            FROM "ad_delivered" CROSS JOIN (VALUES ('served'), ('confirmed')) AS "of" ("stage")
            WHERE "of"."stage" = 'served' OR "counted") "session_of"
        ORDER BY "stage", "serving_id", "started_at", "listener_key", "episode_id", "window_on", "break_key", "slot", "creative_id") "due"
    UNION ALL
    SELECT "stage", "serving_id", "hour", "creative_id", "break_key", "slot", "country", -"quantity"
    FROM "ad_entry" WHERE "stage" IN ('served', 'confirmed')) "each"
GROUP BY "stage", "serving_id", "hour", "creative_id", "break_key", "slot", "country" HAVING sum("quantity") <> 0
UNION
SELECT s."serving_id" FROM "client_event" c JOIN "ad_serving" s ON s."serving_id" = c."serving_id"
WHERE c."event" IN ('start', 'complete') AND c."judgement" = 'eligible' AND s."line_item_id" IS NOT NULL
    AND s."reached" & CASE c."event" WHEN 'start' THEN 16 ELSE 32 END = 0
UNION
SELECT s."serving_id" FROM "ad_serving" s JOIN "ad_delivered" a ON a."serving_id" = s."serving_id"
JOIN "session" o ON (o."listener_key", o."episode_id", o."window_on") = (a."listener_key", a."episode_id", a."window_on")
JOIN "anomaly_decision" d ON d."day" = o."window_on" AND (d."kind" = 'listener' AND d."key" = o."listener_key"
    OR d."kind" = 'address' AND d."key" = o."address_key")
WHERE d."decided_at" >= now() - interval '1 day';
