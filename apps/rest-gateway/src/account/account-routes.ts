import { z } from 'zod';
import { defineRoute, type AnswerShape } from '../route.ts';

const account: AnswerShape = {
  name: 'Account',
  schema: z.strictObject({
    id: z.string(),
    plan: z.string(),
    analytics: z.boolean(),
    /** Null is unlimited. */
    history_days: z.int().nullable(),
    /** Null is unlimited. */
    encoding_ms_per_month: z.int().nullable(),
    requests_per_minute: z.int(),
    upload_urls_per_minute: z.int(),
  }),
};

/** GET /account: what the credential's plan gives. */
export const readAccount = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'accountGet',
    summary: 'Plan, history window, monthly encoding time and rate limits of the credential.',
    answer: account,
    run: async ({ caller: { accountId, plan } }) => ({
      status: 200,
      body: {
        id: accountId,
        plan: plan.name,
        analytics: plan.includesAnalytics,
        history_days: plan.historyDays ?? null,
        encoding_ms_per_month: plan.encodingMsPerMonth === undefined ? null : Number(plan.encodingMsPerMonth),
        requests_per_minute: plan.requestsPerMinute,
        upload_urls_per_minute: plan.uploadUrlsPerMinute,
      },
    }),
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

/** The first moment of the UTC month after `month` ("2026-11"). */
function endOf(month: string): Date {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year!, number, 1));
}

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
      const { month, usedMs, reservedMs, limitMs } = await management.findEncodingTime(caller);
      const [used, reserved] = [Number(usedMs), Number(reservedMs)];
      const limit = limitMs === undefined ? null : Number(limitMs);
      return {
        status: 200,
        body: {
          month,
          encoding_used_ms: used,
          encoding_reserved_ms: reserved,
          encoding_limit_ms: limit,
          encoding_left_ms: limit === null ? null : Math.max(0, limit - used - reserved),
          ...(neededMs !== undefined && { encoding_needed_ms: neededMs }),
          period_ends_at: endOf(month).toISOString(),
          analytics_included: caller.plan.includesAnalytics,
          history_days: caller.plan.historyDays ?? null,
        },
      };
    },
  });
