-- AlterTable
ALTER TABLE "session_use" ADD COLUMN     "password_set_at" TIMESTAMPTZ(3),
ADD COLUMN     "second_factor_since" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "waiting_sign_in" ADD COLUMN     "password_set_at" TIMESTAMPTZ(3);
