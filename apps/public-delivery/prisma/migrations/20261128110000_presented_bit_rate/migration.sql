-- AlterTable
ALTER TABLE "presented_episode" ADD COLUMN     "average_bit_rate" INTEGER;
