import { methodologyVersion } from '@longwave/audience';
import { completeUntilMs } from '@longwave/audience-store';
import { opportunityFacts } from '@longwave/events';
import { setStatementTimeout, transaction, type Pool } from '@longwave/postgres';
import type { ReadReportResponse } from '@longwave/rpc/audience';
import { opportunitiesUntilMs } from '../ads/opportunity-table.ts';
import { beReader } from '../ads/settled-until.ts';
import { wireWindow } from './count-requests.ts';
import type { ReportRequest } from './report-request.ts';
import { factsOf, reportStatement } from './report-sql.ts';
import { findRestatedOfWorkspace } from './restated-ranges.ts';

/** Rows of one message. */
const batchSize = 1000;

/**
 * Sends a report: its basis, then its rows in batches. All of it is read in one snapshot, by one query through a cursor of the server, so
 * neither side ever holds all the rows, and totals of several reports of one snapshot agree.
 * @param send resolves when the reader takes more
 */
export async function readReport(
  pool: Pool,
  request: ReportRequest,
  send: (message: ReadReportResponse) => Promise<void>,
): Promise<void> {
  await transaction(
    pool,
    async (tx) => {
      // A long year, or a reader with a slow disk, must not end the report.
      await beReader(tx);
      await tx.query(`set local idle_in_transaction_session_timeout = '10min'`);
      await setStatementTimeout(tx, 600_000);
      const facts = factsOf(request.metrics);
      const countsDownloads = facts.includes('downloads') || facts.includes('listeners');
      const countsOpportunities = facts.some((one) => opportunityFacts.includes(one));
      const completeUntil = BigInt(
        countsOpportunities
          ? Math.min(await completeUntilMs(tx), await opportunitiesUntilMs(tx))
          : await completeUntilMs(tx),
      );
      const restated = await findRestatedOfWorkspace(tx, request.workspaceId, request.range, {
        downloads: countsDownloads ? request.window : undefined,
        ads: facts.includes('ads'),
      });
      const basis = {
        methodologyVersion,
        completeUntilMs: completeUntil,
        window: wireWindow(request.window),
        restated,
      };
      await send({ content: { $case: 'basis', value: basis } });
      const { text, values } = reportStatement(request);
      await tx.query(`declare report no scroll cursor for ${text}`, [...values]);
      for (;;) {
        const { rows } = await tx.query<Readonly<Record<string, string>>>(`fetch ${batchSize} from report`);
        if (rows.length === 0) break;
        const wire = rows.map((row) => ({
          keys: request.dimensions.map((_, index) => row[`key_${index}`]!),
          values: request.metrics.map((_, index) => BigInt(row[`value_${index}`]!)),
        }));
        await send({ content: { $case: 'rows', value: { rows: wire } } });
      }
    },
    'REPEATABLE READ',
  );
}
