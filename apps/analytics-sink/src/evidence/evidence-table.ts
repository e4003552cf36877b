import { columns, type Columns, type JsonRows } from '@longwave/audience-store';
import { transaction, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { EvidenceReport, EvidenceRow } from './evidence-requests.ts';

type Numbers = Omit<EvidenceRow, 'sourceId' | 'at'>;
type RowOfTable = Columns<'evidence_row', Exclude<keyof JsonRows['evidence_row'], 'evidence_id' | 'place'>>;

const text = (number: bigint | undefined): string | null => number?.toString() ?? null;
const number = (stored: bigint | string | null): bigint | undefined => (stored === null ? undefined : BigInt(stored));

/**
 * Stores rows of a report from a place on; a report and rows that are there already stay as they are. Throws `not_found` for a report of
 * another workspace.
 */
export async function importEvidence(
  pool: Pool,
  report: EvidenceReport,
  firstRow: number,
  rows: readonly EvidenceRow[],
): Promise<void> {
  const { evidenceId, workspaceId } = report;
  const records = rows.map((row, index) => ({
    ...{ evidence_id: evidenceId, place: firstRow + index, source_id: row.sourceId, at: row.at.toISOString() },
    ...{ downloads: text(row.downloads), plays: text(row.plays), listeners: text(row.listeners) },
    ...{ completes: text(row.completes), impressions: text(row.impressions), revenue_micros: text(row.revenueMicros) },
  }));
  await transaction(pool, async (tx) => {
    await tx.query(
      `insert into evidence_report (evidence_id, workspace_id, authority_id, source_label, platform, kind, granularity,
         revision, finality, period_start, period_end, currency)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing`,
      [
        evidenceId,
        workspaceId,
        report.authorityId,
        report.sourceLabel,
        report.platform,
        report.kind,
        report.granularity,
        report.revision,
        report.finality,
        report.periodStart,
        report.periodEnd,
        report.currency,
      ],
    );
    await assertReport(tx, workspaceId, evidenceId);
    await tx.query(
      `insert into evidence_row (${columns.evidence_row})
       select ${columns.evidence_row} from json_populate_recordset(null::evidence_row, $1) order by place
       on conflict do nothing`,
      [JSON.stringify(records)],
    );
  });
}

/** Throws `not_found` when the workspace has no such report. */
async function assertReport(pool: Pick<Pool, 'query'>, workspaceId: string, evidenceId: string): Promise<void> {
  const { rowCount } = await pool.query('select from evidence_report where evidence_id = $1 and workspace_id = $2', [
    evidenceId,
    workspaceId,
  ]);
  if (rowCount !== 1) throw new Problem('not_found');
}

/** Rows of a report from a place on, in their order. Throws `not_found` when the workspace has no such report. */
export async function listEvidenceRows(
  pool: Pool,
  workspaceId: string,
  evidenceId: string,
  firstRow: number,
  limit: number,
): Promise<(Numbers & { readonly sourceId: string; readonly atMs: bigint })[]> {
  await assertReport(pool, workspaceId, evidenceId);
  const { rows } = await pool.query<RowOfTable>(
    `select source_id, at, downloads, plays, listeners, completes, impressions, revenue_micros from evidence_row
     where evidence_id = $1 and place >= $2 order by place limit $3`,
    [evidenceId, firstRow, limit],
  );
  return rows.map((row) => ({
    ...{ sourceId: row.source_id, atMs: BigInt(row.at.getTime()) },
    ...{ downloads: number(row.downloads), plays: number(row.plays), listeners: number(row.listeners) },
    ...{ completes: number(row.completes), impressions: number(row.impressions) },
    revenueMicros: number(row.revenue_micros),
  }));
}
