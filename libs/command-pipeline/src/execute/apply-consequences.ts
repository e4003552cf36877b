import type { Catalog, CommandDefinition } from '@longwave/command-catalog';
import type { OperationConsequence } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import type { CommandRequest } from './command-request.ts';
import type { Consequence } from './command-rule.ts';
import type { RevisionChange } from '../store/change-table.ts';
import type { ReceiptConsequence } from '../store/receipt.ts';
import { saveVersion, type SavedVersion } from '../store/save-version.ts';
import { lockResource } from '../store/resource-table.ts';

/** Another resource that a command changed, as the operation shows it, the receipt proves it and the workspace's changes list it. */
export interface AppliedConsequence {
  readonly shown: OperationConsequence;
  readonly proof: ReceiptConsequence;
  readonly change: RevisionChange;
}

/** A saved version as a consequence; `versionBefore` is 0 for a new resource. */
export const consequenceOf = (
  { row, change }: Omit<SavedVersion, 'view'>,
  versionBefore: number,
): AppliedConsequence => {
  const { resource_type: type, id, version, lifecycle_state: state, digest } = row;
  return {
    shown: { type, id, version, state, event: change.event },
    proof: { type, id, version_before: versionBefore, version_after: version, digest_after: digest },
    change,
  };
};

/**
 * Applies a command's consequences in its transaction and under its operation: locks each resource in the order of ids, saves a version
 * and an event of it, and returns it for the command's operation and receipt. Skips resources that do not exist.
 */
export async function applyConsequences(
  tx: Transaction,
  context: {
    readonly definition: CommandDefinition;
    readonly resources: Catalog['resources'];
    readonly request: Pick<CommandRequest, 'workspaceId'>;
  },
  consequences: readonly Consequence[],
  at: { readonly operationId: string; readonly now: Date },
): Promise<AppliedConsequence[]> {
  const { definition, resources } = context;
  const { workspaceId } = context.request;
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
    const saved = await saveVersion(tx, resource, { id, workspaceId, current, attributes, state, event, ...at });
    applied.push(consequenceOf(saved, current.version));
  }
  return applied;
}
