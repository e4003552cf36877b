import { createHash } from 'node:crypto';
import { billingStatements } from '@longwave/command-catalog';
import type { StatementFormat } from '@longwave/money';
import { z } from 'zod';
import { Refusal, type ManagementApi } from '../manage/management-api.ts';

const statementSchema = z.object({
  id: z.string(),
  workspace_id: z.string(),
  lifecycle_state: z.string(),
  attributes: z.object(billingStatements.attributes.shape),
});
/** A statement as the Management API shows it. */
export type Statement = z.infer<typeof statementSchema>;

const ledgerSchema = z.object({
  known_at: z.string(),
  readings: z.array(
    z.object({
      line_item_id: z.string(),
      units: z.object({ start: z.array(z.number()), end: z.array(z.number()) }),
      adjustments: z.array(
        z.object({
          ...{ reconciliation_id: z.string(), item_id: z.string() },
          ...{ day: z.string(), quantity: z.number(), basis: z.string() },
        }),
      ),
    }),
  ),
});

/** What the ledger says of a statement, as it was known at the time of the statement. */
export type LedgerAnswer = z.infer<typeof ledgerSchema>;

/** Parses an answer. Throws when this program is of another release than the service. */
function parsed<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(answer);
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(
    `The service answered ${what} in a form that this program does not know (${issue?.path.join('.')}: ${issue?.message}). Use the program of the same release.`,
  );
}

/** A statement of a workspace. Throws in words that say what to do. */
export async function readStatement(api: ManagementApi, workspaceId: string, id: string): Promise<Statement> {
  const path = `/workspaces/${workspaceId}/resources/billing_statements/${encodeURIComponent(id)}`;
  const answer = await api.ask({ path }).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.code !== 'not_found') throw error;
    throw new Error(
      `There is no statement ${id} in ${workspaceId} that you see. “manage list billing_statements” shows those that there are; --workspace names another workspace.`,
      { cause: error },
    );
  });
  return parsed(statementSchema, answer, 'the statement');
}

const routeOf = ({ workspace_id: workspaceId, id }: Pick<Statement, 'workspace_id' | 'id'>) =>
  `/workspaces/${workspaceId}/billing-statements/${id}`;

/** Reads the ledger again, as it was known at the time of a statement. */
export const readLedgerOf = async (api: ManagementApi, statement: Statement): Promise<LedgerAnswer> =>
  parsed(ledgerSchema, await api.ask({ path: `${routeOf(statement)}/ledger` }), 'the ledger');

const documentSchema = z.object({ url: z.url() });

/** The bytes of a stored document, whatever they are. */
export async function readDocument(api: ManagementApi, statement: Statement, format: StatementFormat): Promise<Buffer> {
  const answer = await api.ask({ path: `${routeOf(statement)}/document?format=${format}` });
  const { url } = parsed(documentSchema, answer, 'the address of a document');
  const response = await fetch(url);
  if (!response.ok)
    throw new Error(`The object store answered ${response.status} for the ${format} document. Try again.`);
  return Buffer.from(await response.arrayBuffer());
}

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
