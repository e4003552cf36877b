import type { ResourceDefinition } from '@longwave/command-catalog';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { endWaiting } from '../review/waiting-operation.ts';
import type { ResourceRow } from '../store/resource-row.ts';
import { lockResource } from '../store/resource-table.ts';
import { saveVersion } from '../store/save-version.ts';
import { consequenceOf, type AppliedConsequence } from './apply-consequences.ts';

/** Withdraws a locked review task; its operation is left to the caller. */
export async function withdrawReview(
  tx: Transaction,
  reviewTasks: ResourceDefinition,
  task: ResourceRow,
  at: { readonly operationId: string; readonly now: Date },
): Promise<AppliedConsequence> {
  const { id, workspace_id: workspaceId, attributes, version: before } = task;
  const [state, event] = ['withdrawn', 'review.withdrawn'];
  const saved = await saveVersion(tx, reviewTasks, { id, workspaceId, current: task, attributes, state, event, ...at });
  return consequenceOf(saved, before);
}

/**
 * Withdraws the request that a new command corrects: its review ends as withdrawn and its operation as cancelled, in the transaction of the
 * new command. Throws `validation_failed` unless it is an undecided review of the same person, for the same command and subject.
 */
export async function withdrawCorrected(
  tx: Transaction,
  reviewTasks: ResourceDefinition,
  corrected: {
    readonly taskId: string;
    readonly workspaceId: string;
    readonly commandType: string;
    /** Undefined when the command creates its subject. */
    readonly subjectId: string | undefined;
    readonly requestedBy: string;
  },
  at: { readonly operationId: string; readonly now: Date },
): Promise<AppliedConsequence> {
  const current = await lockResource(tx, corrected.workspaceId, 'review_tasks', corrected.taskId);
  const task = current?.attributes;
  const isOwn =
    task?.requested_by === corrected.requestedBy &&
    task.command_type === corrected.commandType &&
    (corrected.subjectId === undefined || task.subject.id === corrected.subjectId);
  if (!current || !isOwn || reviewTasks.terminalStates.includes(current.lifecycle_state)) {
    const detail = 'Name an undecided review of your own request for the same command.';
    throw new Problem('validation_failed', detail, {
      errors: [{ path: '/reason/corrects', code: 'not_correctable', detail }],
    });
  }
  const withdrawn = await withdrawReview(tx, reviewTasks, current, at);
  await endWaiting(tx, current.attributes.operation_id, { state: 'cancelled', now: at.now });
  return withdrawn;
}
