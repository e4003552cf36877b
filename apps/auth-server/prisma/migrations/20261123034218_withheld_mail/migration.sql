-- AlterTable
ALTER TABLE "invitation_mail" ALTER COLUMN "sent_at" DROP NOT NULL;
