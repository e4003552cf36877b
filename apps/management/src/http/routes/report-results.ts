import {
  billingStatements,
  productCatalog,
  reportFormats,
  reportRuns,
  type Attributes,
} from '@longwave/command-catalog';
import type { Actor } from '@longwave/command-pipeline';
import { analyticsRoles } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { json, type ManagementRoute } from '../management-route.ts';
import { holdsRole, isUnreadable } from '../../workspace/access/access.ts';
import { isOfMoney } from '../../workspace/reports/report.ts';

/** Roles that read what was counted: those that run reports, and those of analytics. */
const countReaders = [...productCatalog.commands['report.run'].roles, ...analyticsRoles];

/** Throws `permission_denied` unless the actor may read the result: of money, who reads statements may. */
function checkReader(actor: Actor, workspaceId: string, isMoney: boolean): void {
  if (isMoney && isUnreadable(actor, workspaceId, billingStatements.type))
    throw new Problem('permission_denied', 'You may not see what is earned and charged here.');
  if (!isMoney && !holdsRole(actor, { workspaceId, podcastId: undefined }, countReaders))
    throw new Problem('permission_denied', 'You may not see analytics here.');
}

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
  note: 'The run must be ready; how it was counted stands in the run itself. The result of a report of money is for the roles that read billing statements.',
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
    const { resource } = await access.getVisible(actor, workspaceId, reportRuns.type, id);
    checkReader(actor, workspaceId, isOfMoney(resource.attributes as Attributes<'report_runs'>));
    const { format } = resultQuery.parse(query);
    return json(await signReport(workspaceId, id, format), { headers: { 'Cache-Control': 'no-store' } });
  },
};

/** What reports found. */
export const reportResultRoutes: readonly ManagementRoute[] = [readResult];
