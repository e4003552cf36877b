-- CreateTable
CREATE TABLE "checkpoint" (
    "number" INTEGER NOT NULL,
    "size" INTEGER NOT NULL,
    "root" TEXT NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "jws" TEXT NOT NULL,

    CONSTRAINT "checkpoint_pkey" PRIMARY KEY ("number")
);

-- CreateTable
CREATE TABLE "checkpoint_head" (
    "leaf_index" INTEGER NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "head" TEXT NOT NULL,

    CONSTRAINT "checkpoint_head_pkey" PRIMARY KEY ("leaf_index")
);

CREATE TRIGGER "checkpoint_is_kept" BEFORE UPDATE OR DELETE ON "checkpoint" FOR EACH ROW EXECUTE FUNCTION "refuse_rewriting_history"();
CREATE TRIGGER "checkpoint_is_never_emptied" BEFORE TRUNCATE ON "checkpoint" EXECUTE FUNCTION "refuse_rewriting_history"();
