-- CreateTable
CREATE TABLE "alert_progress" (
    "only_row" BOOLEAN NOT NULL DEFAULT true,
    "position" BIGINT NOT NULL,

    CONSTRAINT "alert_progress_pkey" PRIMARY KEY ("only_row")
);
