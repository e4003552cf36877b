-- CreateTable
CREATE TABLE "kept_upload" (
    "upload_id" TEXT NOT NULL,
    "storage_key" TEXT NOT NULL,
    "etag" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,

    CONSTRAINT "kept_upload_pkey" PRIMARY KEY ("upload_id")
);
