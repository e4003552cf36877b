-- AlterTable
ALTER TABLE "collaboration" DROP CONSTRAINT "collaboration_pkey",
ADD CONSTRAINT "collaboration_pkey" PRIMARY KEY ("podcast_id", "email", "role");
