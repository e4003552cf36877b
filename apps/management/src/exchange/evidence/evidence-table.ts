import type { Attributes } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

type ReportKey = Pick<Attributes<'platform_evidence'>, 'authority_id' | 'evidence'>;

/** The whole key of a report but for its revision, as its indexes have it: reports that differ in one part only are not read. */
const ofReport = `resource_type = 'platform_evidence' and workspace_id = $1
             and attributes ->> 'authority_id' = $2 and attributes #>> '{evidence,source_label}' = $3
             and attributes #>> '{evidence,kind}' = $4 and instant_of(attributes #>> '{evidence,period,start}') = instant_of($5)
             and instant_of(attributes #>> '{evidence,period,end}') = instant_of($6)`;

/**
 * Whether an authority has sent a report of this source, kind, period and revision, whatever became of it. Makes transactions about one such
 * report wait for each other.
 */
export async function hasReport(
  tx: Transaction,
  workspaceId: string,
  { authority_id: authorityId, evidence: { source_label: source, kind, period, revision } }: ReportKey,
): Promise<boolean> {
  const instants = [Date.parse(period.start), Date.parse(period.end)];
  await tx.query({
    name: 'lock_report',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 4))',
    values: [JSON.stringify([authorityId, source, kind, ...instants, revision])],
  });
  const { rowCount } = await tx.query({
    name: 'find_report',
    text: `select from resource where ${ofReport} and (attributes #>> '{evidence,revision}')::bigint = $7 limit 1`,
    values: [workspaceId, authorityId, source, kind, period.start, period.end, revision],
  });
  return rowCount === 1;
}

/** The ids of the revisions of a report, of the same source, kind and period, that none has superseded; the newest is first. */
export async function listStandingRevisions(
  pool: Pool,
  workspaceId: string,
  { authority_id: authorityId, evidence: { source_label: source, kind, period } }: ReportKey,
): Promise<readonly string[]> {
  const { rows } = await pool.query<Columns<'resource', 'id'>>({
    name: 'list_standing_revisions',
    text: `select id from resource where ${ofReport} and lifecycle_state <> 'superseded'
           order by (attributes #>> '{evidence,revision}')::bigint desc`,
    values: [workspaceId, authorityId, source, kind, period.start, period.end],
  });
  return rows.map(({ id }) => id);
}
