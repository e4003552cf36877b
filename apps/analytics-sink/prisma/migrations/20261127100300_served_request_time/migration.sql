-- Leads to the oldest of our own requests. It is made while requests are stored, so it stands alone in its migration. The digest is that of
-- the user agent that stands for those of other parties (declaredUserAgents.ok), whose requests stay.
CREATE INDEX CONCURRENTLY "served_request_own_started_at_idx" ON "served_request"("started_at")
    WHERE "user_agent_digest" <> 'd1990f97a1f4fe7b8e86da8c03c9dd3f7d536c14aa4a6f9eedab07f34cd961b0';
