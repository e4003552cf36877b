-- Rows of the present hour are updated every ten seconds; room in their pages keeps the indexes as they are.
ALTER TABLE "verdict_hour" SET (fillfactor = 50);
