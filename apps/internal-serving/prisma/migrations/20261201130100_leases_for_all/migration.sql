-- Every installation changes over to leases, once no release runs that counts goals by the guard (docs/pacing.md#change-over).
UPDATE "serving_mode" SET "wanted" = 'lease' WHERE "mode" = 'guard';
