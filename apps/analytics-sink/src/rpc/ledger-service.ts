import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { LedgerServiceService, type LedgerHour } from '@longwave/rpc/audience';
import { listAdjustments, postAdjustments } from '../ledger/adjustment-table.ts';
import { requireComplete, requireSettled } from '../ledger/known-at.ts';
import {
  adjustmentsRequest,
  hoursRequest,
  postRequest,
  servingsRequest,
  unitsRequest,
} from '../ledger/ledger-requests.ts';
import { readServings, readUnits, sendHours } from '../ledger/units.ts';

const callers = ['management', 'operator'] as const;

/** What line items are charged for (docs/counting.md#the-ledger-of-ads), and what reconciliations adjust. */
export const ledgerService = (pool: Pool): RpcService =>
  rpcService(
    LedgerServiceService,
    {
      ...{ readUnits: callers, readHours: callers, readServings: callers, listAdjustments: callers },
      postAdjustments: ['management'],
    },
    {
      readUnits: async (request) => {
        const asked = parseOrProblem(unitsRequest, request);
        const completeUntil = await requireComplete(pool, asked.knownAt);
        const { units, methodologyVersion, listsVersion } = await readUnits(pool, asked);
        return {
          units: units.map(BigInt),
          completeUntilMs: BigInt(completeUntil),
          methodologyVersion,
          listsVersion,
        };
      },
      readHours: async (request, _context, send) => {
        const asked = parseOrProblem(hoursRequest, request);
        await requireComplete(pool, asked.knownAt);
        await sendHours(pool, asked, (rows) =>
          send({
            hours: rows.map((row): LedgerHour => ({
              lineItemId: row.line_item_id,
              creativeId: row.creative_id,
              hourMs: BigInt(row.hour.getTime()),
              units: BigInt(row.units),
            })),
          }),
        );
      },
      readServings: async (request) => {
        const asked = parseOrProblem(servingsRequest, request);
        await requireComplete(pool, asked.knownAt);
        const rows = await readServings(pool, asked);
        return {
          servings: rows.map((row) => ({
            servingId: row.serving_id,
            lineItemId: row.line_item_id,
            creativeId: row.creative_id,
            hourMs: row.hour === null ? undefined : BigInt(row.hour.getTime()),
          })),
        };
      },
      postAdjustments: async (request) => {
        const { workspaceId, reconciliationId, adjustments } = parseOrProblem(postRequest, request);
        return { posted: await postAdjustments(pool, workspaceId, reconciliationId, adjustments) };
      },
      listAdjustments: async (request) => {
        const { workspaceId, lineItemIds, knownAt } = parseOrProblem(adjustmentsRequest, request);
        await requireSettled(pool, knownAt);
        const rows = await listAdjustments(pool, workspaceId, lineItemIds, knownAt);
        return {
          adjustments: rows.map((row) => ({
            itemId: row.item_id,
            lineItemId: row.line_item_id,
            day: row.day,
            quantity: BigInt(row.quantity),
            countingBasis: row.counting_basis,
            reason: row.reason,
            reconciliationId: row.reconciliation_id,
            recordedAtMs: BigInt(row.recorded_at.getTime()),
          })),
        };
      },
    },
  );
