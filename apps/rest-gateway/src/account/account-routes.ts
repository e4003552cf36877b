import { readEncodingUsage } from '@longwave/hosting-client';
import { z } from 'zod';
import { defineRoute, type AnswerShape } from '../route.ts';

const account: AnswerShape = {
  name: 'Account',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    email: z.email().nullable(),
    plan: z.string(),
    subscription: z.enum(['trialing', 'active', 'past_due', 'canceled', 'suspended']),
    /** Null without a trial. */
    trial_ends_at: z.iso.datetime().nullable(),
    analytics: z.boolean(),
    /** Null is unlimited. */
    history_days: z.int().nullable(),
    /** Null is unlimited. */
    encoding_ms_per_month: z.int().nullable(),
    /** Encoding time left in the current UTC month; null is unlimited. */
    encoding_left_ms: z.int().nullable(),
    requests_per_minute: z.int(),
    upload_urls_per_minute: z.int(),
  }),
};

/** GET /account: the account of the credential and what its plan gives. */
export const readAccount = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'accountGet',
    summary:
      'Shows the account of the credential: name, plan, subscription, history window, encoding time and rate limits.',
    answer: account,
    run: async ({ caller }, { identity, management }) => {
      const [found, encoding] = await Promise.all([identity.getAccount(caller), readEncodingUsage(caller, management)]);
      const { plan } = caller;
      return {
        status: 200,
        body: {
          id: found.id,
          name: found.name,
          email: found.email === '' ? null : found.email,
          plan: plan.name,
          subscription: found.subscriptionState,
          trial_ends_at: found.trialEndsAtMs === undefined ? null : new Date(Number(found.trialEndsAtMs)).toISOString(),
          analytics: plan.includesAnalytics,
          history_days: plan.historyDays ?? null,
          encoding_ms_per_month: plan.encodingMsPerMonth === undefined ? null : Number(plan.encodingMsPerMonth),
          encoding_left_ms: encoding.left_ms,
          requests_per_minute: plan.requestsPerMinute,
          upload_urls_per_minute: plan.uploadUrlsPerMinute,
        },
      };
    },
  });

const usage: AnswerShape = {
  name: 'AccountUsage',
  schema: z.strictObject({
    /** UTC month, "2026-11". */
    month: z.string(),
    encoding_used_ms: z.int(),
    /** Of productions that are being encoded. */
    encoding_reserved_ms: z.int(),
    /** Null is unlimited. */
    encoding_limit_ms: z.int().nullable(),
    /** Null is unlimited. */
    encoding_left_ms: z.int().nullable(),
    /** `needed_ms` as it was asked with. */
    encoding_needed_ms: z.int().optional(),
    /** When the month ends and its encoding time begins anew. */
    period_ends_at: z.iso.datetime(),
    analytics_included: z.boolean(),
    /** Days of analytics; null is unlimited. */
    history_days: z.int().nullable(),
  }),
};

const usageQuery = z.strictObject({
  needed_ms: z
    .int()
    .min(1)
    .optional()
    .describe('Encoding time that a refused start needs, in milliseconds. The `Link` header of the 402 contains it.'),
});

/** GET /account/usage: what is left of the account's own plan, and until when. */
export const readUsage = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'accountUsageGet',
    summary: 'Shows what is left of the plan: encoding time of the current UTC month, analytics, days of history.',
    query: usageQuery,
    answer: usage,
    run: async ({ caller, query: { needed_ms: neededMs } }, { management }) => {
      const encoding = await readEncodingUsage(caller, management);
      return {
        status: 200,
        body: {
          month: encoding.month,
          encoding_used_ms: encoding.used_ms,
          encoding_reserved_ms: encoding.reserved_ms,
          encoding_limit_ms: encoding.limit_ms,
          encoding_left_ms: encoding.left_ms,
          ...(neededMs !== undefined && { encoding_needed_ms: neededMs }),
          period_ends_at: encoding.period_ends_at,
          analytics_included: caller.plan.includesAnalytics,
          history_days: caller.plan.historyDays ?? null,
        },
      };
    },
  });
