-- CreateTable
CREATE TABLE "invitation_mail" (
    "membership_id" TEXT NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitation_mail_pkey" PRIMARY KEY ("membership_id")
);
