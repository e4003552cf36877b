-- CreateTable
CREATE TABLE "producer_mark" (
    "producer" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "ended" BOOLEAN NOT NULL,

    CONSTRAINT "producer_mark_pkey" PRIMARY KEY ("producer", "part")
);
