import type { Due, ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem, Problem } from '@longwave/problems';
import { pollLoop } from '@longwave/worker-kit';
import { executeAsManagement } from './execute-as-management.ts';
import type { DueTask } from './due-task.ts';

/** Due resources that one poll of a task reads. */
const batchSize = 100;
/** Pause before a refused or failed task is tried again. */
const retryAfterMs = { refused: 30_000, failed: 5_000 };

export interface ClockOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly tasks: readonly DueTask[];
  readonly clock: () => Date;
  /** Milliseconds between two polls. */
  readonly everyMs: number;
  /** Called with every error of a task; a refused one is tried again after half a minute. */
  readonly onError: (error: unknown, task: { readonly name: string; readonly id?: string }) => void;
}

/**
 * Polls every task and sends the commands of due resources, until it is disposed; no task waits for another. Several clocks may run: the
 * idempotency key names the resource and its occurrence, so each task is done once. Tasks that became due while no clock ran are done late.
 */
export function startClock(options: ClockOptions): AsyncDisposable {
  const { pool, execute, tasks, clock, everyMs, onError } = options;
  /** Key of a refused or failed task → the time of its next try. */
  type Refused = Map<string, number>;

  async function run(task: DueTask, due: Due, refused: Refused): Promise<void> {
    const key = `${task.name}:${due.id}:${due.occurrence}`;
    if ((refused.get(key) ?? 0) > clock().getTime()) return;
    try {
      const command = { type: task.command, id: task.creates ? null : due.id, changes: task.changes(due) };
      const envelope = { workspaceId: due.workspace_id, idempotencyKey: key, process: 'system:clock' } as const;
      await executeAsManagement(execute, envelope, command);
      refused.delete(key);
    } catch (error) {
      const afterMs = error instanceof Problem ? retryAfterMs.refused : retryAfterMs.failed;
      refused.set(key, clock().getTime() + afterMs);
      // Another clock was faster, the resource is still in use, or its workspace has enough work: nothing to report.
      if (isProblem(error, 'state_not_allowed', 'idempotency_in_progress', 'rate_limited')) return;
      onError(error, { name: task.name, id: due.id });
    }
  }

  function follow(task: DueTask): AsyncDisposable {
    const refused: Refused = new Map();
    return pollLoop({
      everyMs,
      run: async (signal) => {
        for (const [key, at] of refused) if (at <= clock().getTime()) refused.delete(key);
        const due = await task.findDue(pool, clock(), batchSize + refused.size);
        for (const one of due) if (!signal.aborted) await run(task, one, refused);
      },
      onError: (error) => onError(error, { name: task.name }),
    });
  }

  const following = tasks.map(follow);
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(following.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
