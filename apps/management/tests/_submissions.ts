import { reactTo } from '@longwave/command-catalog';
import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { executeAsManagement } from '../src/background/execute-as-management.ts';
import { claimJob } from '../src/background/job-table.ts';
import { submissionReactions } from '../src/hosting/platforms/follow-submissions.ts';
import { createAskPlatformHandler } from '../src/hosting/platforms/run-submission.ts';
import type { Apple } from './_apple.ts';
import type { TestManagement } from './_management.ts';
import type { World } from './_world.ts';

/** What tests do with submissions to the stand-in of Apple Podcasts. */
export function submissionsOf(management: () => TestManagement, apple: () => Apple) {
  /** Ends the leases of jobs, as time does: some time ago, so that a clock that is set back between two statements changes nothing. */
  const end = () =>
    management().pool.query(
      `update job set lease_until = now() - interval '1 minute' where kind = 'ask_platform' and state = 'running'`,
    );

  /** One attempt at the next job, as a worker makes it. */
  async function work(execute: ExecuteCommand = management().execute, limitMs = 5_000) {
    const fetch = createGuardedFetch({ allowOrigins: [apple().origin] });
    const { pool, clock } = management();
    const platforms = { apple_podcasts: management().apple };
    const handler = createAskPlatformHandler({ pool, clock, execute, fetch, platforms, platformLimitMs: limitMs });
    const job = (await claimJob(pool, ['ask_platform'], 'worker', 30_000))!;
    await handler.run(job, new AbortController().signal);
  }

  const read = async (w: World, { id }: Pick<ResourceView, 'id'>) =>
    (await findResource(management().pool, w.workspaceId, 'platform_submissions', id))!;

  /** State, ambiguity and problem of a submission. */
  async function stateOf(w: World, submission: ResourceView) {
    const { lifecycle_state: state, attributes } = await read(w, submission);
    return [state, attributes.ambiguity, attributes.problem?.code];
  }

  /** The newest operation of a command on a submission. */
  async function operationOf({ id }: ResourceView, command: string) {
    const { rows } = await management().pool.query<{
      state: string;
      provider: unknown;
      problem: { code: string } | null;
    }>(
      'select state, provider, problem from operation where subject_id = $1 and command_type = $2 order by created_at desc limit 1',
      [id, `platform_submission.${command}`],
    );
    return rows[0]!;
  }

  /** Sends a command to a submission as it is now. */
  async function send(
    w: World,
    submission: ResourceView,
    command: 'submit' | 'refresh' | 'withdraw' | 'discard',
    changes = {},
  ) {
    const { version } = await read(w, submission);
    return w.send(`platform_submission.${command}`, { ...submission, version }, changes);
  }

  /** Lets the follower read the events of a workspace from the beginning, as a redelivery does. */
  async function follow(w: World): Promise<void> {
    const reactions = submissionReactions(async (event, step, command) => {
      const envelope = { workspaceId: event.workspace_id, idempotencyKey: `${event.id}:${step}` };
      await executeAsManagement(management().execute, { ...envelope, process: 'system:follower' }, command).catch(
        (error: { code?: string }) => {
          if (error.code !== 'state_not_allowed') throw error;
        },
      );
    }, management().pool);
    const { rows } = await management().pool.query<{ payload: never }>(
      `select payload from outbox where payload->>'workspace_id' = $1 order by position`,
      [w.workspaceId],
    );
    for (const { payload } of rows) await reactTo(reactions, payload);
  }

  return { end, work, read, stateOf, operationOf, send, follow };
}
