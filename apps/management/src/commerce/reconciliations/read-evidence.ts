import type { Attributes } from '@longwave/command-catalog';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import type { RpcClient } from '@longwave/rpc';
import type { EvidenceServiceService } from '@longwave/rpc/audience';
import type { CountedRow, SourceRows } from './counted-row.ts';
import { maxRows } from './read-counts.ts';
import { dateOf, type ReconciliationSource } from './reconciliation.ts';

export type ListEvidenceRows = RpcClient<typeof EvidenceServiceService>['listEvidenceRows'];

const pageRows = 1000;
const tooManyRows = {
  code: 'too_many_rows',
  detail: `A report has at most ${maxRows.toLocaleString('en')} ids and days. Cut the period.`,
} as const;
/** Grains that a day consists of. */
const withinDays: readonly string[] = ['hour', 'day'];

type EvidenceSource = Extract<ReconciliationSource, { readonly kind: 'platform_reported' }>;

/**
 * What an evidence report says of each id of the platform within a time, for the metric of the source: by day where the report is by hours
 * or days and the zone of its days is known, else as one sum. Too many of them are a finding.
 */
export async function readEvidence(
  listEvidenceRows: ListEvidenceRows,
  workspaceId: string,
  source: EvidenceSource,
  about: {
    readonly granularity: Attributes<'platform_evidence'>['evidence']['granularity'];
    readonly fromMs: number;
    readonly toMs: number;
    readonly signal: AbortSignal;
  },
): Promise<SourceRows> {
  const { time_zone: timeZone, evidence_id: evidenceId, metric } = source;
  const days = timeZone !== undefined && withinDays.includes(about.granularity) ? daysOf(timeZone) : undefined;
  const sums = new Map<string, CountedRow>();
  for (let firstRow = 0; ; firstRow += pageRows) {
    const page = await listEvidenceRows(
      { workspaceId, evidenceId, firstRow, limit: pageRows },
      { signal: about.signal },
    );
    for (const [index, row] of page.rows.entries()) {
      const [units, atMs] = [row[metric], Number(row.atMs)];
      if (units === undefined || atMs < about.fromMs || atMs >= about.toMs) continue;
      const day = days && dateOf(days.dayAt(atMs));
      const key = `${day ?? ''} ${row.sourceId}`;
      const { line, units: before } = sums.get(key) ?? { line: firstRow + index + 1, units: 0 };
      sums.set(key, {
        ...{ line, lineItem: row.sourceId, units: before + Number(units) },
        ...(day !== undefined && { day }),
      });
    }
    if (sums.size > maxRows) return { findings: [tooManyRows] };
    if (page.rows.length < pageRows) return { rows: [...sums.values()] };
  }
}
