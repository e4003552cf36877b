-- CreateTable
CREATE TABLE "resource" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "lifecycle_state" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,
    "digest" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "resource_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "revision" (
    "resource_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "lifecycle_state" TEXT NOT NULL,
    "attributes" JSONB NOT NULL,
    "digest" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "revision_pkey" PRIMARY KEY ("resource_id","version")
);

-- CreateTable
CREATE TABLE "link" (
    "from_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "to_id" TEXT NOT NULL,

    CONSTRAINT "link_pkey" PRIMARY KEY ("from_id","name")
);

-- CreateTable
CREATE TABLE "unique_key" (
    "resource_type" TEXT NOT NULL,
    "attribute" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "resource_id" TEXT NOT NULL,

    CONSTRAINT "unique_key_pkey" PRIMARY KEY ("resource_type","attribute","value")
);

-- CreateTable
CREATE TABLE "operation" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "command_type" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "subject_type" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "subject_version" INTEGER NOT NULL,
    "receipt_id" TEXT NOT NULL,
    "problem" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "receipt" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "operation_id" TEXT NOT NULL,
    "jws" TEXT NOT NULL,

    CONSTRAINT "receipt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "receipt_chain" (
    "workspace_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "head" TEXT NOT NULL,

    CONSTRAINT "receipt_chain_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "idempotency_record" (
    "client_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "command_type" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "answer" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("client_id","workspace_id","command_type","key")
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
CREATE INDEX "resource_workspace_id_resource_type_created_at_id_idx" ON "resource"("workspace_id", "resource_type", "created_at", "id");

-- CreateIndex
CREATE INDEX "link_to_id_name_idx" ON "link"("to_id", "name");

-- CreateIndex
CREATE INDEX "unique_key_resource_id_idx" ON "unique_key"("resource_id");

-- CreateIndex
CREATE INDEX "operation_subject_id_state_idx" ON "operation"("subject_id", "state");

-- CreateIndex
CREATE UNIQUE INDEX "receipt_workspace_id_seq_key" ON "receipt"("workspace_id", "seq");

-- AddForeignKey
ALTER TABLE "revision" ADD CONSTRAINT "revision_resource_id_fkey" FOREIGN KEY ("resource_id") REFERENCES "resource"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "link" ADD CONSTRAINT "link_from_id_fkey" FOREIGN KEY ("from_id") REFERENCES "resource"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- The relay reads only what is not yet published; published rows cost it nothing.
CREATE INDEX "outbox_unpublished" ON "outbox"("position") WHERE "published_at" IS NULL;
