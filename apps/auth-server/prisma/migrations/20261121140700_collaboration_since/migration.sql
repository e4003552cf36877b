-- AlterTable
-- Nobody noted when the present ones began: they began together, and ids, which hold their time, decide among them.
ALTER TABLE "collaboration" ADD COLUMN "since" TIMESTAMPTZ(3) NOT NULL DEFAULT now();

ALTER TABLE "collaboration" ALTER COLUMN "since" DROP DEFAULT;
