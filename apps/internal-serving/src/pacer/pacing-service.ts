import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { PacingServiceService } from '@longwave/rpc/serving';
import { z } from 'zod';
import { readHours, readLinePacing } from './line-pacing-table.ts';

const id = z.string().min(1).max(64);
const instant = z.bigint().min(0n).max(8_640_000_000_000_000n).transform(Number);
const maxRangeMs = 100 * 86_400_000;

const readRequest = z.strictObject({ workspaceId: id, lineItemIds: z.array(id).max(1_000) });
const hoursRequest = z
  .strictObject({ workspaceId: id, lineItemId: id, fromMs: instant, toMs: instant })
  .refine(({ fromMs, toMs }) => fromMs <= toMs && toMs - fromMs <= maxRangeMs, {
    message: 'The range ends before it begins, or has more than 100 days.',
  });

/** What the pacer knows of line items; each answer holds those of one workspace alone. */
export const pacingService = (pool: Pool): RpcService =>
  rpcService(
    PacingServiceService,
    { readPacing: ['management', 'operator'], readPacingHours: ['management', 'operator'] },
    {
      readPacing: async (request) => {
        const { workspaceId, lineItemIds } = parseOrProblem(readRequest, request);
        const lines = await readLinePacing(pool, workspaceId, lineItemIds);
        return {
          lineItems: lines.map((line) => ({
            lineItemId: line.lineItemId,
            goal: BigInt(line.goal),
            countingBasis: line.basis,
            windowStartMs: BigInt(line.windowStartMs),
            windowEndMs: BigInt(line.windowEndMs),
            used: BigInt(line.used),
            committed: line.committed,
            target: line.target,
            deliveryRate: line.deliveryRate,
            urgency: line.urgency,
            state: line.state,
            planDigest: line.planDigest ?? '',
            updatedAtMs: BigInt(Math.floor(line.updatedAtMs)),
          })),
        };
      },
      readPacingHours: async (request) => {
        const { workspaceId, lineItemId, fromMs, toMs } = parseOrProblem(hoursRequest, request);
        const hours = await readHours(pool, workspaceId, lineItemId, { fromMs, toMs });
        return {
          hours: hours.map((hour) => ({
            hourMs: BigInt(hour.hourMs),
            target: hour.target,
            committed: hour.committed,
            granted: BigInt(hour.granted),
            used: BigInt(hour.used),
            shortBy: hour.shortBy ?? '',
          })),
        };
      },
    },
  );
