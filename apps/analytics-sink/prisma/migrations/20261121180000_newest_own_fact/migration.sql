-- The newest fact of our own is looked for with every batch of facts; what other parties report is no measure of it.
CREATE INDEX "fact_own_at_idx" ON "fact"("at") WHERE "lists_version" NOT LIKE 'declared by %';
