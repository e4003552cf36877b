import { readFileSync } from 'node:fs';
import { ConfigError } from '@longwave/service-kit';
import { z } from 'zod';

const planSchema = z
  .strictObject({
    /** False: closed to new accounts. */
    open: z.boolean(),
    /** REST access by legacy tokens. */
    includes_api: z.boolean(),
    includes_analytics: z.boolean(),
    /** Days of analytics history; null is unlimited. */
    history_days: z.int().min(0).nullable(),
    /** Encoding time per UTC month; null is unlimited. */
    encoding_ms_per_month: z.int().min(0).nullable(),
    /** Of one account API key or OAuth access token. */
    requests_per_minute: z.int().min(1),
    /** The separate, higher limit of the three upload URL endpoints. */
    upload_urls_per_minute: z.int().min(1),
    legacy_requests_per_minute: z.int().min(0),
  })
  .refine((plan) => plan.includes_api === plan.legacy_requests_per_minute > 0, {
    message: 'includes_api and legacy_requests_per_minute disagree',
  });

const fileSchema = z.strictObject({ version: z.literal(1), plans: z.record(z.string(), planSchema) });

export type Plan = z.output<typeof planSchema>;
export type Plans = ReadonlyMap<string, Plan>;

/** The name of a plan in a sentence. */
export const planName = (plan: string): string => plan.charAt(0).toUpperCase() + plan.slice(1);

/** Plans by name from the text of a plan file. Throws `ConfigError` naming everything that is wrong. */
export function parsePlans(text: string): Plans {
  const result = fileSchema.safeParse(JSON.parse(text));
  if (result.success) return new Map(Object.entries(result.data.plans));
  const lines = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(`The plan file is not valid:\n${lines.join('\n')}`);
}

/** Reads the plan file at `path`. */
export const readPlans = (path: string): Plans => parsePlans(readFileSync(path, 'utf8'));
