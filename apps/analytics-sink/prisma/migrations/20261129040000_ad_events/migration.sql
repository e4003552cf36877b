-- What was counted of ads, in the order in which it was counted: trackers of others are called by it. Facts wait on the bus while these are
-- made. Not CONCURRENTLY: that would wait for the migrations of other schemas, which wait for this one.
-- CreateIndex
CREATE INDEX "ad_entry_delivered_idx" ON "ad_entry"("recorded_at") WHERE "stage" = 'delivered' AND "quantity" = 1 AND NOT "restates";

-- CreateIndex
CREATE INDEX "client_event_counted_at_idx" ON "client_event"("counted_at") WHERE "judgement" = 'eligible';
