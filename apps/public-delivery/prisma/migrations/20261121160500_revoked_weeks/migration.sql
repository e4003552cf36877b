-- CreateTable
CREATE TABLE "revoked_week" (
    "week" INTEGER NOT NULL,
    "epoch" INTEGER NOT NULL,
    "revoked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "revoked_week_pkey" PRIMARY KEY ("week")
);
