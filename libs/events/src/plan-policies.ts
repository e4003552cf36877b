import { z } from 'zod';

/** Where a policy holds: in these podcasts and in these episodes; null for the whole workspace. */
const place = z.strictObject({ podcasts: z.array(z.string()), episodes: z.array(z.string()) }).nullable();

const versioned = { id: z.string(), version: z.int().min(1), place };

const distance = z.strictObject({
  scope: z.enum(['break', 'minutes', 'episode']),
  minutes: z.int().min(1).optional(),
});

const planPolicy = z.discriminatedUnion('kind', [
  z.strictObject({
    ...versioned,
    kind: z.literal('frequency'),
    rules: z.strictObject({
      caps: z.array(
        z.strictObject({
          max: z.int().min(1),
          per: z.enum(['listener_bucket', 'episode', 'break']),
          window_seconds: z.int().min(1),
        }),
      ),
    }),
  }),
  z.strictObject({
    ...versioned,
    kind: z.literal('separation'),
    rules: z.strictObject({
      advertiser: distance.optional(),
      group: distance.optional(),
      category: distance.optional(),
    }),
  }),
  z.strictObject({
    ...versioned,
    kind: z.literal('brand_safety'),
    rules: z.strictObject({
      blocked_ad_categories: z.array(z.string()).optional(),
      blocked_advertiser_ids: z.array(z.string()).optional(),
      blocked_content_categories: z.array(z.string()).optional(),
      explicit_episodes: z.literal('blocked').optional(),
    }),
  }),
  z.strictObject({
    ...versioned,
    kind: z.literal('ad_load'),
    rules: z.strictObject({
      max_ms_per_play: z.int().min(1).optional(),
      max_ads_per_play: z.int().min(1).optional(),
      max_ads_per_break: z.int().min(1).optional(),
    }),
  }),
  z.strictObject({
    ...versioned,
    kind: z.literal('privacy'),
    rules: z.strictObject({
      blocked_targeting: z
        .array(z.enum(['countries', 'regions', 'languages', 'devices', 'operating_systems', 'apps', 'dayparts']))
        .optional(),
    }),
  }),
]);

/**
 * The policies under which a serving plan decides, in the order of ids. A document of its own beside the plan's, so that services that
 * do not know policies read the plan as before: stored under `plans/policies/{sha256 of its JCS form}.json`, named by `policies_digest`
 * of the serving plan.
 */
export const planPoliciesSchema = z.strictObject({
  format: z.literal(1),
  workspace_id: z.string(),
  policies: z.array(planPolicy).min(1),
});

export type PlanPolicy = z.infer<typeof planPolicy>;

/** The key under which policies are stored. @param digest SHA-256 (hex) of the document's JCS form */
export const planPoliciesKey = (digest: string): string => `plans/policies/${digest}.json`;
