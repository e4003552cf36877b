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
  }),
};

/** GET /account/usage. */
export const readUsage = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'accountUsageGet',
    summary: 'Encoding time of the present UTC month: used, reserved and left.',
    answer: usage,
    run: async ({ caller }, { management }) => {
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
        },
      };
    },
  });
