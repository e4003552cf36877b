import { billingStatements } from '@longwave/command-catalog';
import { statementFormats } from '@longwave/money';
import { z } from 'zod';
import { json, whileCallerWaits, type ManagementRoute, type RouteCall, type RouteDeps } from '../management-route.ts';

const documentQuery = z.strictObject({
  format: z.enum(statementFormats).default('html').describe('A page to print, records of CSV, or canonical JSON.'),
});

const signedDocument = z.strictObject({
  url: z.string().describe('Fetches the document without a token. A secret: whoever has it reads the statement.'),
  expires_at: z.iso.datetime(),
  format: documentQuery.shape.format.unwrap(),
  number: z.int(),
  sha256: z.string().describe('Of the document, in hex; the statement names the same.'),
  size_bytes: z.int(),
});

const units = z.array(z.int()).describe('By price, in the order of the inputs of the statement.');
const statementLedger = z.strictObject({
  known_at: z.iso.datetime(),
  readings: z.array(
    z.strictObject({
      line_item_id: z.string(),
      units: z.strictObject({ start: units, end: units }),
      adjustments: z.array(
        z.strictObject({
          reconciliation_id: z.string(),
          item_id: z.string(),
          day: z.iso.date(),
          quantity: z.int(),
          basis: z.string().describe('What its units are counted by.'),
        }),
      ),
    }),
  ),
});

/** The id of a statement that the caller may read. */
async function readableId({ actor, workspaceId, parameter }: RouteCall, { access }: RouteDeps): Promise<string> {
  const id = parameter('billing_statement_id');
  await access.getVisible(actor, workspaceId, billingStatements.type, id);
  return id;
}

const readDocument: ManagementRoute = {
  operation: 'billing_statement.read_document',
  method: 'GET',
  path: '/workspaces/{workspace_id}/billing-statements/{billing_statement_id}/document',
  summary: 'A short-lived address of a document of an issued statement.',
  note: 'A document never changes; its digest stands in the statement.',
  scope: 'management:read',
  query: documentQuery,
  answers: {
    200: {
      description: 'The address and what it leads to.',
      body: { name: 'StatementDocument', schema: signedDocument },
      headers: { 'Cache-Control': '`no-store`: the address is a secret.' },
    },
  },
  refusals: ['not_found'],
  answer: async (call, deps) => {
    const id = await readableId(call, deps);
    const { format } = documentQuery.parse(call.query);
    return json(await deps.signStatement(call.workspaceId, id, format), { headers: { 'Cache-Control': 'no-store' } });
  },
};

const readStatementLedger: ManagementRoute = {
  operation: 'billing_statement.read_ledger',
  method: 'GET',
  path: '/workspaces/{workspace_id}/billing-statements/{billing_statement_id}/ledger',
  summary: 'The numbers that a statement is computed from, read again as they were known at its time.',
  note: '`longwave billing verify` computes the statement from them and compares it with its documents. A workspace reads one at a time.',
  scope: 'management:read',
  answers: {
    200: {
      description: 'Units by line item and price, and the adjustments of reconciliations.',
      body: { name: 'StatementLedger', schema: statementLedger },
    },
  },
  refusals: ['not_found', 'temporarily_unavailable'],
  answer: async (call, deps) =>
    json(await deps.readStatementLedger(call.workspaceId, await readableId(call, deps), whileCallerWaits(call))),
};

/** Documents of billing statements, and what recomputes them. */
export const billingStatementRoutes: readonly ManagementRoute[] = [readDocument, readStatementLedger];
