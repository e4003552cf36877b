import type { FoundKind } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { AlertDetail } from './alert-table.ts';

/** What another service found about a line item. */
export interface AlertFinding {
  readonly workspaceId: string;
  readonly lineItemId: string;
  readonly units: number;
  readonly detail: AlertDetail;
}

/** Replaces what was found of a kind in a workspace, unless that was of newer inputs; nobody has inputs of times to come. */
export async function saveFindings(
  pool: Pool,
  workspaceId: string,
  kind: FoundKind,
  { asOfMs, findings }: { readonly asOfMs: number; readonly findings: readonly Omit<AlertFinding, 'workspaceId'>[] },
): Promise<void> {
  await pool.query({
    name: 'save-alert-findings',
    text: `insert into alert_finding as f (workspace_id, kind, as_of, findings) values ($1, $2, least(to_timestamp($3::float8 / 1000), now()), $4::jsonb)
           on conflict (workspace_id, kind) do update set as_of = excluded.as_of, findings = excluded.findings
           where f.as_of <= excluded.as_of`,
    values: [workspaceId, kind, asOfMs, JSON.stringify(findings)],
  });
}

/** What is found about line items of all workspaces, by line item and kind. */
export async function listFindings(pool: Pool): Promise<ReadonlyMap<string, ReadonlyMap<FoundKind, AlertFinding>>> {
  const { rows } = await pool.query<
    Columns<'alert_finding', 'workspace_id'> & {
      readonly kind: FoundKind;
      readonly findings: readonly Omit<AlertFinding, 'workspaceId'>[];
    }
  >({
    name: 'list-alert-findings',
    text: `select workspace_id, kind, findings from alert_finding where findings <> '[]'`,
  });
  const found = new Map<string, Map<FoundKind, AlertFinding>>();
  for (const { workspace_id: workspaceId, kind, findings } of rows)
    for (const one of findings) {
      const key = findingKey(workspaceId, one.lineItemId);
      const kinds = found.get(key) ?? new Map<FoundKind, AlertFinding>();
      found.set(key, kinds.set(kind, { ...one, workspaceId }));
    }
  return found;
}

/** Nobody finds something about a line item of another workspace. */
export const findingKey = (workspaceId: string, lineItemId: string) => `${workspaceId} ${lineItemId}`;
