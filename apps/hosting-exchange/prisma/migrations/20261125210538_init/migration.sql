-- CreateTable
CREATE TABLE "stream" (
    "workspace_id" TEXT NOT NULL,
    "stream_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "state_reason" TEXT,
    "held_by" TEXT,
    "quarantined_at" TIMESTAMPTZ(3),
    "reopened_at" TIMESTAMPTZ(3),
    "reopened_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "stream_pkey" PRIMARY KEY ("workspace_id","stream_id")
);

-- CreateTable
CREATE TABLE "message" (
    "workspace_id" TEXT NOT NULL,
    "stream_id" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "digest" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "schema" TEXT NOT NULL,
    "subject_type" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "source_version" BIGINT NOT NULL,
    "revokes" BIGINT,
    "event_id" UUID NOT NULL,
    "issued_at" TIMESTAMPTZ(6) NOT NULL,
    "protected" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" TEXT,
    "operation_id" TEXT,
    "receipt_id" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),

    CONSTRAINT "message_pkey" PRIMARY KEY ("workspace_id","stream_id","sequence")
);

-- CreateTable
CREATE TABLE "withdrawn_message" (
    "digest" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "withdrawn_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "withdrawn_message_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "host_slug" (
    "host" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,

    CONSTRAINT "host_slug_pkey" PRIMARY KEY ("host")
);

-- CreateTable
CREATE TABLE "alias_address" (
    "host" TEXT NOT NULL,
    "path_slug" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "alias" TEXT NOT NULL,

    CONSTRAINT "alias_address_pkey" PRIMARY KEY ("host","path_slug")
);

-- CreateTable
CREATE TABLE "equivocation" (
    "digest" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "stream_id" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "accepted_digest" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "protected" TEXT NOT NULL,
    "payload" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "equivocation_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "refusal" (
    "authority_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "code" TEXT NOT NULL,
    "refusals" INTEGER NOT NULL,

    CONSTRAINT "refusal_pkey" PRIMARY KEY ("authority_id","day","code")
);

-- CreateTable
CREATE TABLE "idempotency_record" (
    "client_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "status" INTEGER,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("client_id","workspace_id","operation","key")
);

-- CreateTable
CREATE TABLE "acknowledgement" (
    "intent_id" TEXT NOT NULL,
    "intent_version" INTEGER NOT NULL,
    "acknowledged_by" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "detail_code" TEXT,
    "plan_digest" TEXT,
    "applied_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "acknowledgement_pkey" PRIMARY KEY ("intent_id","intent_version","acknowledged_by")
);

-- CreateTable
CREATE TABLE "evidence_import" (
    "evidence_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "message_digest" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "running_until" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "evidence_import_pkey" PRIMARY KEY ("evidence_id")
);

-- CreateTable
CREATE TABLE "authority" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "authority_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "machine_key" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "x" TEXT NOT NULL,
    "purposes" TEXT[],
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "overlap_until" TIMESTAMPTZ(3),

    CONSTRAINT "machine_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "snapshot" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "source_version" BIGINT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,

    CONSTRAINT "snapshot_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "hosted_episode" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "podcast_id" TEXT NOT NULL,
    "snapshot_id" TEXT NOT NULL,

    CONSTRAINT "hosted_episode_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "hosted_podcast" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "stream_id" TEXT NOT NULL,

    CONSTRAINT "hosted_podcast_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "surface" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "surface_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,

    CONSTRAINT "surface_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "alias" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "alias" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,

    CONSTRAINT "alias_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "intent" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "authority_id" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "intent_pkey" PRIMARY KEY ("id","version")
);

-- CreateTable
CREATE TABLE "outbox" (
    "position" BIGSERIAL NOT NULL,
    "key" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "published_at" TIMESTAMPTZ(3),

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position")
);

-- CreateIndex
CREATE INDEX "stream_authority_id_idx" ON "stream"("authority_id");

-- CreateIndex
CREATE UNIQUE INDEX "message_digest_key" ON "message"("digest");

-- CreateIndex
CREATE INDEX "message_authority_id_source_id_revokes_idx" ON "message"("authority_id", "source_id", "revokes");

-- CreateIndex
CREATE INDEX "message_operation_id_idx" ON "message"("operation_id");

-- CreateIndex
CREATE INDEX "message_receipt_id_idx" ON "message"("receipt_id");

-- CreateIndex
CREATE UNIQUE INDEX "message_authority_id_event_id_key" ON "message"("authority_id", "event_id");

-- CreateIndex
CREATE UNIQUE INDEX "message_authority_id_subject_type_source_id_source_version_key" ON "message"("authority_id", "subject_type", "source_id", "source_version");

-- CreateIndex
CREATE INDEX "host_slug_workspace_id_idx" ON "host_slug"("workspace_id");

-- CreateIndex
CREATE INDEX "equivocation_workspace_id_stream_id_received_at_idx" ON "equivocation"("workspace_id", "stream_id", "received_at");

-- CreateIndex
CREATE INDEX "idempotency_record_created_at_idx" ON "idempotency_record"("created_at");

-- CreateIndex
CREATE INDEX "machine_key_authority_id_idx" ON "machine_key"("authority_id");

-- CreateIndex
CREATE UNIQUE INDEX "snapshot_authority_id_source_id_source_version_key" ON "snapshot"("authority_id", "source_id", "source_version");

-- CreateIndex
CREATE UNIQUE INDEX "surface_authority_id_surface_id_key" ON "surface"("authority_id", "surface_id");

-- CreateIndex
CREATE UNIQUE INDEX "alias_authority_id_alias_key" ON "alias"("authority_id", "alias");

-- CreateIndex
CREATE INDEX "intent_authority_id_version_idx" ON "intent"("authority_id", "version");

-- CreateIndex
CREATE INDEX "hosted_podcast_authority_id_stream_id_idx" ON "hosted_podcast"("authority_id", "stream_id");

-- The relay reads what is not published yet, in its order.
CREATE INDEX "outbox_unpublished" ON "outbox"("position") WHERE "published_at" IS NULL;

-- Streams whose messages wait for their commands.
CREATE INDEX "message_pending" ON "message"("workspace_id", "stream_id", "sequence") WHERE "state" = 'pending';

-- Evidence whose rows are not imported yet: each authority has its own line, and one that runs at a time.
CREATE INDEX "evidence_import_due" ON "evidence_import"("authority_id", "next_attempt_at") WHERE "ended_at" IS NULL;
CREATE INDEX "evidence_import_running" ON "evidence_import"("authority_id", "running_until") WHERE "ended_at" IS NULL AND "running_until" IS NOT NULL;

ALTER TABLE "message"
    ADD CONSTRAINT "message_state" CHECK ("state" IN ('pending', 'accepted')),
    ADD CONSTRAINT "message_sequence" CHECK ("sequence" >= 1),
    ADD CONSTRAINT "message_accepted_whole" CHECK ("state" = 'pending' OR ("receipt_id" IS NOT NULL AND "accepted_at" IS NOT NULL));

-- What was accepted is never changed or removed, nor is what proves an equivocation.
CREATE FUNCTION keep_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD."state" = 'accepted' THEN
        RAISE EXCEPTION 'an accepted message is kept as it is' USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    IF (OLD."workspace_id", OLD."stream_id", OLD."sequence", OLD."digest", OLD."authority_id", OLD."protected", OLD."payload", OLD."signature")
        IS DISTINCT FROM
       (NEW."workspace_id", NEW."stream_id", NEW."sequence", NEW."digest", NEW."authority_id", NEW."protected", NEW."payload", NEW."signature") THEN
        RAISE EXCEPTION 'a message is kept as it was signed' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER "message_kept" BEFORE UPDATE OR DELETE ON "message" FOR EACH ROW EXECUTE FUNCTION keep_message();

CREATE FUNCTION keep_equivocation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'evidence of an equivocation is kept as it is' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER "equivocation_kept" BEFORE UPDATE OR DELETE ON "equivocation" FOR EACH ROW EXECUTE FUNCTION keep_equivocation();
