import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import { jcsDigest } from '@longwave/idempotency';
import { adjustmentsOf, computeStatement, inputsOf } from '@longwave/money';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import type { Pool } from '@longwave/postgres';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import { draftProblem } from './draft-problem.ts';
import { readLedger, type Ledger } from './read-ledger.ts';

/** What the handlers of statements need. */
export interface StatementJobOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly ledger: Ledger;
}

/** Reads the ledger as it was known at the time of the statement, and computes its lines. */
export const createGenerateStatementHandler = ({ pool, execute, ledger }: StatementJobOptions): JobHandler => ({
  maxAttempts: 20,
  concurrency: 2,
  fail: {
    commandType: 'billing_statement.fail_draft',
    problem: { code: 'statement_gave_up', detail: 'The numbers could not be read. Make the statement again.' },
  },
  run: async (job, signal) => {
    const { workspace_id: workspaceId, subject_id: id } = job;
    const { attributes } = (await findResource(pool, workspaceId, 'billing_statements', id))!;
    const { inputs } = attributes;
    const send = (step: string) => ({ workspaceId, idempotencyKey: `${job.lease_id}:${step}`, reason: leaseOf(job) });
    const content = await readLedger(ledger, workspaceId, inputs, signal);
    const computed = computeStatement(inputs, content.readings, daysOf(inputs.time_zone));
    const { lines, total_micros } = computed;
    const problem = draftProblem(attributes.kind, computed);
    if (problem) {
      await executeAsManagement(execute, send('fail'), {
        type: 'billing_statement.fail_draft',
        id,
        changes: { problem },
      });
      return;
    }
    const adjustments = adjustmentsOf(content.readings);
    const parts = {
      ...{ adjustments: { count: adjustments.length, sha256: jcsDigest(adjustments) } },
      ...{ methodology_version: content.methodologyVersion },
      lists_version: content.listsVersion,
    };
    const digest = jcsDigest(inputsOf({ inputs, evidence: { ...parts, inputs_digest: '' } }));
    await executeAsManagement(execute, send('record'), {
      type: 'billing_statement.record_draft',
      id,
      changes: { evidence: { ...parts, inputs_digest: digest }, lines: [...lines], total_micros },
    });
  },
});
