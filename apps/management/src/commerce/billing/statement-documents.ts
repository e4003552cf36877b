import { createHash } from 'node:crypto';
import { productCatalog } from '@longwave/command-catalog';
import { findResource } from '@longwave/command-pipeline';
import { renderStatement, statementFormats, statementOf, type StatementFormat } from '@longwave/money';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import { computed, issueOf, type BillingStatement, type StatementRow } from './billing-statement.ts';
import type { StatementJobOptions } from './generate-statement.ts';

const contentTypes: Readonly<Record<StatementFormat, string>> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

const expiresInSeconds = 900;

/** The documents of an issued statement, with their digests. The same statement always gives the same bytes. */
function renderDocuments(statement: Pick<StatementRow, 'id' | 'workspace_id' | 'attributes'>) {
  const { attributes } = statement;
  const document = statementOf(statement, computed(attributes), issueOf(attributes));
  return statementFormats.map((format) => {
    const bytes = renderStatement(document, format);
    return { format, bytes, sha256: createHash('sha256').update(bytes).digest('hex'), size_bytes: bytes.length };
  });
}

/** What a statement says of its documents. */
export const documentsOf = (
  statement: Pick<StatementRow, 'id' | 'workspace_id' | 'attributes'>,
): NonNullable<BillingStatement['documents']> =>
  renderDocuments(statement).map(({ format, sha256, size_bytes }) => ({ format, sha256, size_bytes }));

/** Stores the documents of an issued statement under their digests. */
export const createStoreStatementHandler = ({
  pool,
  execute,
  store,
}: Omit<StatementJobOptions, 'ledger'> & { readonly store: ObjectStore }): JobHandler => ({
  maxAttempts: 1000,
  fail: {
    commandType: 'billing_statement.fail_documents',
    problem: { code: 'documents_not_stored', detail: 'The object store took no document of this statement.' },
  },
  run: async (job, signal) => {
    const { workspace_id: workspaceId, subject_id: id } = job;
    const statement = (await findResource(pool, workspaceId, 'billing_statements', id))!;
    const named = new Map(statement.attributes.documents!.map(({ format, sha256 }) => [format, sha256]));
    const files = [];
    for (const { bytes, ...document } of renderDocuments(statement)) {
      signal.throwIfAborted();
      if (named.get(document.format) !== document.sha256)
        throw new Error(`${id}: this release renders another ${document.format} than the one that was issued`);
      const storageKey = `statements/${document.sha256}.${document.format}`;
      await store.put(storageKey, bytes, { contentType: contentTypes[document.format], sizeBytes: bytes.length });
      files.push({ ...document, storage_key: storageKey });
    }
    const envelope = { workspaceId, idempotencyKey: `${job.lease_id}:record`, reason: leaseOf(job) };
    await executeAsManagement(execute, envelope, {
      type: 'billing_statement.record_documents',
      id,
      changes: { files },
    });
  },
});

/** A signed address of a document of an issued statement. Throws `not_found` before it is stored. */
export const createSignStatement =
  (pool: Pool, store: ObjectStore, clock: () => Date) =>
  async (workspaceId: string, id: string, format: StatementFormat) => {
    const type = productCatalog.resources.billing_statements.type;
    const statement = await findResource(pool, workspaceId, type, id);
    const file = statement?.attributes.files?.find((one) => one.format === format);
    if (!statement || !file)
      throw new Problem('not_found', `There is no document of ${id.slice(0, 64)}: it gets some when it is issued.`);
    return {
      url: await store.presignGet(file.storage_key, { expiresInSeconds }),
      expires_at: new Date(clock().getTime() + expiresInSeconds * 1000).toISOString(),
      format,
      number: statement.attributes.number!,
      sha256: file.sha256,
      size_bytes: file.size_bytes,
    };
  };

export type SignStatement = ReturnType<typeof createSignStatement>;
