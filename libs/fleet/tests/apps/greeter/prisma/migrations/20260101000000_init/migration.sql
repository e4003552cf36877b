-- CreateTable
CREATE TABLE "greeting" (
    "text" TEXT NOT NULL,

    CONSTRAINT "greeting_pkey" PRIMARY KEY ("text")
);

INSERT INTO "greeting" VALUES ('hello');
