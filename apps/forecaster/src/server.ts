import { servingPlanSchema } from '@longwave/events';
import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ForecastServiceService } from '@longwave/rpc/forecast';
import { z } from 'zod';
import { readMs, type Check } from './compute/ask-in-time.ts';
import type { WorkspaceBacktest } from './compute/backtest-workspace.ts';
import type { Question } from './compute/question.ts';

const id = z.string().min(1).max(64);
const asked = z.strictObject({
  workspaceId: id,
  lineItem: z.instanceof(Uint8Array).transform((bytes, context) => {
    try {
      return JSON.parse(Buffer.from(bytes).toString()) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'The line item is not JSON.' });
      return z.NEVER;
    }
  }),
});
const instant = z.bigint().min(0n).max(8_640_000_000_000_000n).transform(Number);
const maxRangeMs = 31 * 86_400_000;
const fitRequest = asked
  .extend({ fromMs: instant, toMs: instant })
  .refine(({ fromMs, toMs }) => fromMs < toMs && toMs - fromMs <= maxRangeMs, {
    message: 'The range ends before it begins, or has more than 31 days.',
  });

/** The line item of a request. Throws `validation_failed`. */
const lineOf = (sent: unknown) => parseOrProblem(servingPlanSchema.shape.line_items.element, sent);

const notNow = (cause: unknown): never => {
  throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });
};

const backtestRequest = z.strictObject({
  workspaceId: z.string().min(1).max(64),
  weeks: z.int().min(1).max(8),
});

/** Makes a backtest. @param signal aborted when the caller has left */
export type AskBacktest = (
  question: Omit<Extract<Question, { type: 'backtest' }>, 'deadlineMs'>,
  signal: AbortSignal,
) => Promise<WorkspaceBacktest>;

/** The RPCs of this service. */
export const forecasterServices = (check: Check, askBacktest: AskBacktest): readonly RpcService[] => [
  rpcService(
    ForecastServiceService,
    { checkAvailability: ['management', 'operator'], explainFit: ['management', 'operator'], backtest: ['operator'] },
    {
      backtest: async (sent, { signal }) => {
        const { workspaceId, weeks } = parseOrProblem(backtestRequest, sent);
        const { historyDays, rows } = await askBacktest({ type: 'backtest', workspaceId, weeks }, signal);
        return {
          historyDays,
          rows: rows.map(({ kind, horizon, forecasts, ours: { coverage, ...ours }, weekdayMean, lastWeek }) => ({
            ...{ kind, horizonDays: horizon, forecasts, ours, coverage, weekdayMean, lastWeek },
          })),
        };
      },
      explainFit: async (sent, { signal }) => {
        const { lineItem, ...range } = parseOrProblem(fitRequest, sent);
        const question = { type: 'fit', ...range, line: lineOf(lineItem), deadlineMs: readMs } as const;
        const { fromMs, toMs, stages, winners, ...found } = await check(question, signal).catch(notNow);
        return {
          ...{ fromMs: BigInt(fromMs), toMs: BigInt(toMs) },
          ...{ rows: found.rows, breaks: BigInt(found.breaks), fits: BigInt(found.fits) },
          stages: stages.map(({ code, breaks }) => ({ code, breaks: BigInt(breaks) })),
          winners: winners.map(({ lineItemId, slots }) => ({ lineItemId, slots: BigInt(slots) })),
          rareValuesHidden: found.rareValuesHidden,
        };
      },
      checkAvailability: async (sent, { signal }) => {
        const { workspaceId, lineItem } = parseOrProblem(asked, sent);
        const question = { type: 'availability', workspaceId, line: lineOf(lineItem), deadlineMs: readMs } as const;
        const found = await check(question, signal).catch(notNow);
        return {
          ...found,
          capacity: BigInt(found.capacity),
          available: BigInt(found.available),
          nearest: BigInt(found.nearest),
          bookingVersion: BigInt(found.bookingVersion),
          contending: found.contending.map(({ lineItemId, loses, ofGoal, tier }) => ({
            ...{ lineItemId, tier, loses: BigInt(loses), ofGoal: BigInt(ofGoal) },
          })),
        };
      },
    },
  ),
];
