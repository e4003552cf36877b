import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { diagnosticsPurposes } from '@longwave/principal';
import { z } from 'zod';

/** One reading of decisions, as the workspace sees it. */
export const diagnosticsAccessSchema = z.strictObject({
  id: z.string(),
  workspace_id: z.string(),
  at: z.iso.datetime(),
  action: z.enum(['trace', 'search']),
  decision_id: z
    .string()
    .nullable()
    .describe('The decision of a trace; null for a search and for a text that is no ID.'),
  question: z
    .record(z.string(), z.string())
    .nullable()
    .describe('What a search asked for, by the names of its parameters; null for a trace.'),
  user_id: z.string().nullable().describe('The person; null for an account that has no owner yet.'),
  account_id: z.string(),
  client_id: z.string().describe('The program, with the person and the account that it acted for.'),
  credential_id: z.string(),
  grant_id: z.string().nullable().describe('What the person allowed the program.'),
  purposes: z.array(z.enum(diagnosticsPurposes)).describe('Of the grant, or the one that the request named.'),
  outcome: z.enum(['answered', 'not_found']),
});
export type DiagnosticsAccess = z.infer<typeof diagnosticsAccessSchema>;

/** Records a reading. It must succeed before the answer is given. */
export async function insertAccess(pool: Pool, access: Omit<DiagnosticsAccess, 'id'>): Promise<void> {
  await pool.query({
    name: 'insert_diagnostics_access',
    text: `insert into diagnostics_access (id, workspace_id, at, action, decision_id, question, user_id, account_id, client_id,
             credential_id, grant_id, purposes, outcome)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      ...[newId('dga'), access.workspace_id, access.at, access.action, access.decision_id],
      access.question && JSON.stringify(access.question),
      ...[access.user_id, access.account_id, access.client_id, access.credential_id, access.grant_id],
      ...[access.purposes, access.outcome],
    ],
  });
}

/** The readings of a workspace, the newest first, after an id. */
export async function listAccesses(
  pool: Pool,
  workspaceId: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly DiagnosticsAccess[]> {
  const { rows } = await pool.query({
    name: 'list_diagnostics_accesses',
    text: `select id, workspace_id, to_json(at at time zone 'UTC') #>> '{}' || 'Z' as at, action, decision_id, question, user_id,
             account_id, client_id, credential_id, grant_id, purposes, outcome
           from diagnostics_access
           where workspace_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
    values: [workspaceId, after ?? null, limit],
  });
  return z.array(diagnosticsAccessSchema).parse(rows);
}
