import { completeUntilMs } from '@longwave/audience-store';
import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { CohortServiceService } from '@longwave/rpc/audience';
import { z } from 'zod';
import { listCohorts } from '../ads/cohort-table.ts';
import { nextWorkspace, readAges } from '../ads/serving-ages.ts';

const cohortsRequest = z.strictObject({
  sinceMs: z
    .bigint()
    .min(0n)
    .max(8_640_000_000_000_000n)
    .transform((ms) => new Date(Number(ms)))
    .optional(),
  lineItemIds: z.array(z.string().min(1).max(64)).max(20_000),
  horizonDays: z.int().min(1).max(400),
});

const maxAgeMs = 31n * 86_400_000n;
const agesRequest = z.strictObject({
  surfaceClass: z.enum(['stream', 'download']),
  agesMs: z
    .array(z.bigint().min(0n).max(maxAgeMs).transform(Number))
    .min(1)
    .max(32)
    .refine((ages) => ages.every((age, at) => at === 0 || age > ages[at - 1]!), { message: 'The ages do not rise.' }),
  afterWorkspaceId: z.string().max(64),
});

/** Servings by the quarter hour of their decision, for the pacer of internal-serving and the operator. */
export const cohortService = (pool: Pool): RpcService =>
  rpcService(
    CohortServiceService,
    { readCohorts: ['internal-serving', 'operator'], readAges: ['internal-serving', 'operator'] },
    {
      readCohorts: async (request) => {
        const { lineItemIds, sinceMs: since, horizonDays } = parseOrProblem(cohortsRequest, request);
        // Read before the cohorts: facts that arrive meanwhile are counted, but `completeUntilMs` does not cover them.
        const completeUntil = BigInt(await completeUntilMs(pool));
        const { cohorts, until, isBehind } = await listCohorts(pool, lineItemIds, since, horizonDays);
        return {
          cohorts: cohorts.map((row) => ({
            lineItemId: row.line_item_id,
            surfaceClass: row.surface_class,
            quarterMs: BigInt(row.quarter.getTime()),
            decided: BigInt(row.decided),
            served: BigInt(row.served),
            delivered: BigInt(row.delivered),
            held: BigInt(row.held),
            clientStarted: BigInt(row.client_started),
            clientCompleted: BigInt(row.client_completed),
          })),
          completeUntilMs: completeUntil,
          untilMs: BigInt(until.getTime()),
          isBehind,
        };
      },
      readAges: async (request) => {
        const { surfaceClass, agesMs, afterWorkspaceId } = parseOrProblem(agesRequest, request);
        const workspaceId = await nextWorkspace(pool, afterWorkspaceId);
        if (workspaceId === undefined) return { workspaceId: '', bases: [] };
        const query = { workspaceId, surfaceClass, agesMs, completeUntilMs: await completeUntilMs(pool) };
        return {
          workspaceId,
          bases: (await readAges(pool, query)).map(({ basis, decided, reached }) => ({
            ...{ countingBasis: basis, decided: BigInt(decided), reached: reached.map(BigInt) },
          })),
        };
      },
    },
  );
