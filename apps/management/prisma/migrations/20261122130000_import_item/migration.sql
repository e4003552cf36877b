-- CreateTable
CREATE TABLE "import_item" (
    "podcast_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "guid" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "episode_id" TEXT,
    "production_id" TEXT,
    "problem" TEXT,
    "notes" JSONB NOT NULL,

    CONSTRAINT "import_item_pkey" PRIMARY KEY ("podcast_id","position")
);
