-- CreateTable
CREATE TABLE "unentered_serving" (
    "id" BIGSERIAL NOT NULL,
    "serving_id" TEXT NOT NULL,

    CONSTRAINT "unentered_serving_pkey" PRIMARY KEY ("id")
);

-- The release before knows neither the stages `served` and `confirmed` nor cohorts (ADR 93). What it changes of a serving is queued by
-- triggers, in its own transaction, and a sweep of this release enters what is missing. A session that enters all of it says so in
-- `longwave.enters_stages`.
CREATE FUNCTION "queue_servings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "unentered_serving" ("serving_id") SELECT DISTINCT "serving_id" FROM "changed";
    RETURN NULL;
END $$;

-- Each change of a serving's deliveries writes its row, also where nothing of it changes, and so does its decision.
CREATE TRIGGER "ad_serving_inserted_before" AFTER INSERT ON "ad_serving" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT
    WHEN (current_setting('longwave.enters_stages', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "queue_servings"();
CREATE TRIGGER "ad_serving_updated_before" AFTER UPDATE ON "ad_serving" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT
    WHEN (current_setting('longwave.enters_stages', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "queue_servings"();

-- Reports of players do not write the row of their serving.
CREATE TRIGGER "client_event_inserted_before" AFTER INSERT ON "client_event" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT
    WHEN (current_setting('longwave.enters_stages', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "queue_servings"();
CREATE TRIGGER "client_event_updated_before" AFTER UPDATE ON "client_event" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT
    WHEN (current_setting('longwave.enters_stages', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "queue_servings"();

-- Whether a person has rejected what is held shows in cohorts alone.
CREATE FUNCTION "queue_judged_servings"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "unentered_serving" ("serving_id")
    SELECT DISTINCT a."serving_id"
    FROM (
        SELECT s."listener_key", s."episode_id", s."window_on" FROM "session" s
        WHERE NEW."kind" = 'listener' AND s."listener_key" = NEW."key" AND s."window_on" = NEW."day"
        UNION
        SELECT s."listener_key", s."episode_id", s."window_on" FROM "session" s
        WHERE NEW."kind" = 'address' AND s."address_key" = NEW."key" AND s."window_on" = NEW."day") o
    JOIN "ad_delivered" a USING ("listener_key", "episode_id", "window_on");
    RETURN NULL;
END $$;
CREATE TRIGGER "anomaly_decision_before" AFTER INSERT ON "anomaly_decision" FOR EACH ROW
    WHEN (current_setting('longwave.enters_stages', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "queue_judged_servings"();
