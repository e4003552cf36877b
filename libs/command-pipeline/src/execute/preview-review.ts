import type { Attributes, Catalog } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { inProgressProblem } from '@longwave/idempotency';
import { isLockFailure, transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { diffVersions, type PatchStep } from '../read/diff-attributes.ts';
import { findResource } from '../read/find-resources.ts';
import { notFoundProblem, resourceView } from '../store/resource-row.ts';
import { applyCommand, lockSubject } from './accept-command.ts';
import type { ExecutorOptions } from './execute-command.ts';
import { prepareRule, ruleOf } from './prepare-rule.ts';
import { contextOfTask } from './run-approved.ts';

/** What the command of a review would change. */
interface ReviewPreview {
  readonly task: Attributes<'review_tasks'>;
  /** The subject's present version; undefined when the command creates it. */
  readonly present: ResourceView | undefined;
  /** JSON Patch over `{lifecycle_state, attributes}`, from the subject's present version. */
  readonly difference: readonly PatchStep[];
}

/**
 * Tries the command of a review that is not decided yet, and undoes it. Throws `not_found`, `state_not_allowed` for a decided review,
 * `idempotency_in_progress` while another command holds what it would change, or the problem for which the command would be refused now.
 */
export type PreviewReview = (workspaceId: string, reviewTaskId: string) => Promise<ReviewPreview>;

/** Ends the transaction of a trial. */
class Undone extends Error {}

export function createReviewPreview<K extends Catalog>(
  options: Pick<ExecutorOptions<K>, 'pool' | 'catalog' | 'rules' | 'clock'>,
): PreviewReview {
  const { pool, catalog, clock } = options;
  return async (workspaceId, reviewTaskId) => {
    const found = await findResource(pool, workspaceId, 'review_tasks', reviewTaskId);
    if (!found) throw notFoundProblem({ noun: 'review_task' }, reviewTaskId);
    if (found.lifecycle_state !== 'open' && found.lifecycle_state !== 'changes_requested')
      throw new Problem('state_not_allowed', 'The review is decided; the history of its subject says what changed.');
    const task = found.attributes;
    const context = contextOfTask(catalog, workspaceId, task);
    const rule = await prepareRule(pool, context, ruleOf(options.rules, context.definition.type));
    let difference: readonly PatchStep[] = [];
    let present: ResourceView | undefined;
    await transaction(pool, async (tx) => {
      const current = await lockSubject(tx, context);
      present = current && resourceView(context.resource, current);
      const { row } = await applyCommand(
        tx,
        { ...context, rule },
        { operationId: task.operation_id, current, now: clock() },
      );
      difference = diffVersions(current, row);
      throw new Undone();
    }).catch((error: unknown) => {
      if (error instanceof Undone) return;
      if (!isLockFailure(error)) throw error;
      throw inProgressProblem('Another command on this resource is still running. Try again.', error);
    });
    return { task, present, difference };
  };
}
