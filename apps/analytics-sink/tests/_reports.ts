import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { Window, type ReadReportRequest, type ReportBasis } from '@longwave/rpc/audience';
import { readReport } from '../src/queries/read-report.ts';
import { reportRequest } from '../src/queries/report-request.ts';

export type Ask = Partial<Omit<ReadReportRequest, 'range'>> & { readonly from?: string; readonly to?: string };

/** A report of the first workspace over all its facts, with the changes of a test. */
const reportOf = ({ from = '2025-10-01T00:00Z', to = '2025-12-01T00:00Z', ...ask }: Ask): ReadReportRequest => ({
  workspaceId: 'ws_1',
  range: { fromMs: BigInt(Date.parse(from)), toMs: BigInt(Date.parse(to)) },
  dimensions: [],
  metrics: ['downloads'],
  filters: [],
  window: Window.CALENDAR_UTC,
  timeZone: '',
  advertisers: [],
  lineItemTypes: [],
  ...ask,
});

/** The rows of a report as `key … number …`, its basis, and the number of its messages. */
export async function readRows(pool: Pool, ask: Ask) {
  let basis: ReportBasis | undefined;
  const rows: string[] = [];
  const sizes: number[] = [];
  await readReport(pool, parseOrProblem(reportRequest, reportOf(ask)), async ({ content }) => {
    if (content?.$case === 'basis') basis = content.value;
    if (content?.$case !== 'rows') return;
    sizes.push(content.value.rows.length);
    for (const { keys, values } of content.value.rows) rows.push([...keys, ...values].join(' '));
  });
  return { rows, basis: basis!, sizes };
}
