-- CreateTable
CREATE TABLE "webhook_replay" (
    "endpoint_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "deliveries" INTEGER NOT NULL,

    CONSTRAINT "webhook_replay_pkey" PRIMARY KEY ("endpoint_id")
);
