-- Reads the table once; facts are stored meanwhile.
ALTER TABLE "fact" VALIDATE CONSTRAINT "fact_bound";
