import { servingPlanSchema } from '@longwave/events';
import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ForecastServiceService } from '@longwave/rpc/forecast';
import { z } from 'zod';
import type { WorkspaceBacktest } from './compute/backtest-workspace.ts';
import type { CheckedAvailability } from './compute/check-availability.ts';
import type { Question } from './compute/question.ts';

const request = z.strictObject({
  workspaceId: z.string().min(1).max(64),
  lineItem: z.instanceof(Uint8Array).transform((bytes, context) => {
    try {
      return JSON.parse(Buffer.from(bytes).toString()) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'The line item is not JSON.' });
      return z.NEVER;
    }
  }),
});

/** Answers a question. @param signal aborted when the caller has left */
export type Check = (
  question: Omit<Extract<Question, { type: 'availability' }>, 'deadlineMs'>,
  signal: AbortSignal,
) => Promise<CheckedAvailability>;

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
    { checkAvailability: ['management', 'operator'], backtest: ['operator'] },
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
      checkAvailability: async (sent, { signal }) => {
        const { workspaceId, lineItem } = parseOrProblem(request, sent);
        const line = parseOrProblem(servingPlanSchema.shape.line_items.element, lineItem);
        const found = await check({ type: 'availability', workspaceId, line }, signal).catch((cause: unknown) => {
          throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });
        });
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
