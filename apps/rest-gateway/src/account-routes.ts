import { z } from 'zod';
import { defineRoute, type AnswerShape } from './route.ts';
import { operationShape } from './views.ts';

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

/** GET /operations/{id}. */
export const readOperation = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'operationGet',
    summary: 'Reads the durable record of one command.',
    answer: operationShape,
    refusals: [404],
    run: async ({ caller, id }, { management }) => ({ status: 200, body: await management.findOperation(caller, id) }),
  });
