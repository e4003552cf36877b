-- CreateTable
CREATE TABLE "second_factor" (
    "user_id" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "last_step" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "second_factor_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "recovery_code" (
    "user_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,

    CONSTRAINT "recovery_code_pkey" PRIMARY KEY ("user_id","digest")
);

-- CreateTable
CREATE TABLE "waiting_sign_in" (
    "digest" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "is_known_device" BOOLEAN NOT NULL,
    "password_given_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "waiting_sign_in_pkey" PRIMARY KEY ("digest")
);

-- CreateIndex
CREATE INDEX "waiting_sign_in_user_id_idx" ON "waiting_sign_in"("user_id");

-- CreateIndex
CREATE INDEX "waiting_sign_in_expires_at_idx" ON "waiting_sign_in"("expires_at");
