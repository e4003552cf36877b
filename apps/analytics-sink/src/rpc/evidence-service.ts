import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { EvidenceServiceService } from '@longwave/rpc/audience';
import { importRequest, rowsRequest, windowsRequest } from '../evidence/evidence-requests.ts';
import { importEvidence, listEvidenceRows } from '../evidence/evidence-table.ts';
import { countWindows } from '../queries/count-queries.ts';

const callers = ['hosting-exchange'] as const;

/** Numbers of other platforms, apart from ours (docs/counting.md#what-other-platforms-report), for hosting-exchange; management reads rows for reconciliations. */
export const evidenceService = (pool: Pool): RpcService =>
  rpcService(
    EvidenceServiceService,
    { importEvidence: callers, listEvidenceRows: [...callers, 'management'], countWindows: callers },
    {
      importEvidence: async (request) => {
        const { report, firstRow, rows } = parseOrProblem(importRequest, request);
        await importEvidence(pool, report, firstRow, rows);
        return {};
      },
      listEvidenceRows: async (request) => {
        const { workspaceId, evidenceId, firstRow, limit } = parseOrProblem(rowsRequest, request);
        return { rows: await listEvidenceRows(pool, workspaceId, evidenceId, firstRow, limit) };
      },
      countWindows: async (request) => {
        const { workspaceId, windows } = parseOrProblem(windowsRequest, request);
        return { downloads: await countWindows(pool, workspaceId, windows) };
      },
    },
  );
