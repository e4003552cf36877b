import type { Catalog, CommandDefinition } from '@longwave/command-catalog';
import type { Transaction } from '@longwave/postgres';
import type { CommandRequest } from './command-request.ts';
import type { OperationConsequence } from '../store/operation.ts';
import type { Consequence } from './command-rule.ts';
import type { ReceiptConsequence } from '../store/receipt.ts';
import { saveVersion } from '../store/save-version.ts';
import { lockResource } from '../store/resource-table.ts';

/** What else a command changed, as its operation shows it and as its receipt proves it. */
export interface AppliedConsequence {
  readonly shown: OperationConsequence;
  readonly proof: ReceiptConsequence;
}

/**
 * Changes what follows from a command, in its transaction and under its operation: each resource is locked in the order of ids, gets a
 * version and an event of its own, and is named in the command's operation and receipt. One that is not there is left out.
 */
export async function applyConsequences(
  tx: Transaction,
  step: {
    readonly definition: CommandDefinition;
    readonly resources: Catalog['resources'];
    readonly request: Pick<CommandRequest, 'workspaceId'>;
  },
  consequences: readonly Consequence[],
  at: { readonly operationId: string; readonly now: Date },
): Promise<AppliedConsequence[]> {
  const { definition, resources } = step;
  const { workspaceId } = step.request;
  const applied: AppliedConsequence[] = [];
  for (const consequence of consequences.toSorted((a, b) => (a.subject.id < b.subject.id ? -1 : 1))) {
    const { type, id } = consequence.subject;
    const current = await lockResource(tx, workspaceId, type, id);
    const decided = current && (await consequence.decide(current, tx));
    if (!decided) continue;
    const { state, attributes, event } = decided;
    const resource = resources[type]!;
    if (!definition.consequences?.includes(event) || !resource.states.includes(state))
      throw new Error(`${definition.type}: undeclared consequence ${event}`);
    const { row } = await saveVersion(tx, resource, { id, workspaceId, current, attributes, state, event, ...at });
    applied.push({
      shown: { type, id, version: row.version, state, event },
      proof: { type, id, version_before: current.version, version_after: row.version, digest_after: row.digest },
    });
  }
  return applied;
}
