import { reportFormats, reportRuns } from '@longwave/command-catalog';
import { accessOf } from '@longwave/command-pipeline';
import { analyticsRoles, campaignRoles } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { json, type ManagementRoute } from '../management-route.ts';

/** Roles that run reports, and read what they say of money. */
const moneyReaders = [...campaignRoles, 'finance' as const];
/** Roles that read the other results: those of analytics, too. */
const readers = [...new Set([...moneyReaders, ...analyticsRoles])];

const resultQuery = z.strictObject({
  format: z.enum(reportFormats).default('csv').describe('CSV with a header, or one JSON object a line.'),
});

const signedResult = z.strictObject({
  url: z.string().describe('Fetches the file without a token. A secret: whoever has it reads the report.'),
  expires_at: z.iso.datetime(),
  format: resultQuery.shape.format.unwrap(),
  sha256: z.string().describe('Of the file, in hex.'),
  size_bytes: z.int(),
  row_count: z.int().describe('Rows, without the header of the CSV.'),
});

const readResult: ManagementRoute = {
  operation: 'report_run.read_result',
  method: 'GET',
  path: '/workspaces/{workspace_id}/report-runs/{report_run_id}/result',
  summary: 'A short-lived address of the result of a report.',
  note: 'The run must be ready; how it was counted stands in the run itself.',
  scope: 'management:read',
  query: resultQuery,
  answers: {
    200: {
      description: 'The address and what it leads to.',
      body: { name: 'ReportResult', schema: signedResult },
      headers: { 'Cache-Control': '`no-store`: the address is a secret.' },
    },
  },
  refusals: ['not_found', 'permission_denied'],
  answer: async ({ actor, workspaceId, parameter, query }, { access, signReport }) => {
    const id = parameter('report_run_id');
    await access.getVisible(actor, workspaceId, reportRuns.type, id);
    if (accessOf(actor, workspaceId, { roles: readers }).outcome !== 'permitted')
      throw new Problem('permission_denied', 'You may not see analytics here.');
    const mayReadMoney = accessOf(actor, workspaceId, { roles: moneyReaders }).outcome === 'permitted';
    const { format } = resultQuery.parse(query);
    return json(await signReport(workspaceId, id, format, mayReadMoney), { headers: { 'Cache-Control': 'no-store' } });
  },
};

/** What reports found. */
export const reportResultRoutes: readonly ManagementRoute[] = [readResult];
