-- A new installation counts goals by leases: no release that knows none runs beside it. One that has served keeps its mode until its
-- operator asks for another (docs/pacing.md#change-over).
UPDATE "serving_mode" SET "mode" = 'lease', "wanted" = 'lease', "switched_at" = now()
    WHERE NOT EXISTS (SELECT FROM "published_plan")
      AND NOT EXISTS (SELECT FROM "packed_decision")
      AND NOT EXISTS (SELECT FROM "decision");
