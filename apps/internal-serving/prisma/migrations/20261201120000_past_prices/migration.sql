-- What is committed of a budget costs the price at which it was decided (docs/pacing.md).
ALTER TABLE "line_pacing" ADD COLUMN "past_prices" JSONB;
ALTER TABLE "line_pacing" ADD COLUMN "committed_micros" DOUBLE PRECISION;
