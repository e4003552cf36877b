-- Leads to the oldest of our own requests. The digest is that of the user agent that stands for those of other parties
-- (declaredUserAgents.ok), whose requests stay. Facts wait on the bus while it is made. CONCURRENTLY would wait for the migrations of
-- other schemas, which wait for this one.
CREATE INDEX "served_request_own_started_at_idx" ON "served_request"("started_at")
    WHERE "user_agent_digest" <> 'd1990f97a1f4fe7b8e86da8c03c9dd3f7d536c14aa4a6f9eedab07f34cd961b0';

-- New requests take the room of removed ones, so after 13 months every range of blocks had old and new ones: this index led to all of them.
DROP INDEX "served_request_started_at_idx";
