import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findResource } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { executeAsManagement } from '../src/background/execute-as-management.ts';
import { startJobRunner, type JobHandler } from '../src/background/job-runner.ts';
import { claimJob, insertJob, leaseOf, type InternalJobKind } from '../src/background/job-table.ts';
import { createCompileHandler } from '../src/advertising/serving-plans/compile-serving-plan.ts';
import { transaction } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { startTestManagement, type TestManagement } from './_management.ts';
import { window } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const fail = {
  commandType: 'serving_plan.fail',
  problem: { code: 'compile_failed', detail: 'It could not be compiled.' },
} as const;

const handlerOf = (run: JobHandler['run'], change: Partial<JobHandler> = {}): JobHandler => ({
  run,
  fail,
  maxAttempts: 3,
  ...change,
});

function runner(
  handlers: Partial<Record<InternalJobKind, JobHandler>>,
  options: { leaseMs?: number; backOffMs?: number } = {},
) {
  const errors: unknown[] = [];
  const started = startJobRunner({
    ...management,
    handlers,
    onError: (error) => errors.push(error),
    pollMs: 20,
    leaseMs: options.leaseMs ?? 30_000,
    backOffMs: () => options.backOffMs ?? 1,
  });
  return Object.assign(started, { errors });
}

const turn = () => new Promise((next) => setImmediate(next));

const plan = (world: World) => world.send('serving_plan.compile', null, { effective_from: window.start });
const stateOf = async (view: ResourceView) =>
  (await findResource(management.pool, view.workspace_id, view.resource_type, view.id))!;
const jobOf = async (view: ResourceView) =>
  (
    await management.pool.query<{ state: string; attempt: number; lease_until: Date | null }>(
      'select state, attempt, lease_until from job where subject_id = $1',
      [view.id],
    )
  ).rows[0]!;

/** A job of another kind, about the same subject. */
const addJob = (view: ResourceView, kind: InternalJobKind) =>
  transaction(management.pool, (tx) =>
    insertJob(tx, {
      kind,
      workspaceId: view.workspace_id,
      subjectType: view.resource_type,
      subjectId: view.id,
      subjectVersion: view.version,
      input: {},
      now: new Date(),
    }),
  );

/** Ends when the signal does. */
const forEver = (_job: unknown, signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );

async function empty(): Promise<void> {
  await management.pool.query('delete from job');
}

test('a requested serving plan is compiled', async () => {
  const requested = await plan(createWorld(management));
  await using _runner = runner({ compile_serving_plan: createCompileHandler(management) });
  const compiled = await until(async () => {
    const found = await stateOf(requested);
    return found.lifecycle_state === 'ready' && found;
  });
  expect(await management.store.find(String(compiled.attributes['storage_key']))).toBeDefined();
  expect(await jobOf(requested)).toMatchObject({ state: 'done' });
});

test('a long job of one kind never delays another kind', async () => {
  await empty();
  const world = createWorld(management);
  const long = await plan(world);
  await management.pool.query(`update job set kind = 'import_feed' where subject_id = $1`, [long.id]);
  let importing = false;
  await using _runner = runner({
    import_feed: handlerOf((job, signal) => {
      importing = true;
      return forEver(job, signal);
    }),
    compile_serving_plan: createCompileHandler(management),
  });
  await until(async () => importing);
  const requested = await plan(world);
  await until(async () => (await stateOf(requested)).lifecycle_state === 'ready');
  expect(await jobOf(long)).toMatchObject({ state: 'running' });
});

test('jobs of one kind run as many at a time as its handler allows, and no more', async () => {
  await empty();
  const view = await plan(createWorld(management));
  await empty();
  for (let n = 0; n < 3; n++) await addJob(view, 'run_batch_encoding');
  let most = 0;
  let atOnce = 0;
  let ended = 0;
  const release = Promise.withResolvers<void>();
  await using _runner = runner({
    run_batch_encoding: handlerOf(
      async (job) => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        if (atOnce === 2) release.resolve();
        await release.promise;
        await turn();
        atOnce -= 1;
        ended += 1;
        await management.pool.query(`update job set state = 'done' where id = $1`, [job.id]);
      },
      { concurrency: 2 },
    ),
  });
  await until(async () => ended === 3);
  expect(most).toBe(2);
});

test('a failed attempt is repeated; after the last one the failure is reported to the subject', async () => {
  await empty();
  const requested = await plan(createWorld(management));
  let tries = 0;
  await using running = runner({
    compile_serving_plan: handlerOf(async () => {
      tries += 1;
      throw new Error('the store is away');
    }),
  });
  const failed = await until(async () => {
    const found = await stateOf(requested);
    return found.lifecycle_state === 'failed' && found;
  });
  expect(tries).toBe(3);
  expect(running.errors).toHaveLength(3);
  expect(failed.attributes['problem']).toEqual(fail.problem);
  expect(await jobOf(requested)).toMatchObject({ state: 'done', attempt: 4 });
});

test('a job whose subject has ended meanwhile ends at once', async () => {
  await empty();
  const requested = await plan(createWorld(management));
  await management.pool.query(`update job set subject_type = 'podcasts' where subject_id = $1`, [requested.id]);
  let tries = 0;
  await using running = runner({
    compile_serving_plan: handlerOf(
      async () => {
        tries += 1;
        throw new Problem('state_not_allowed', 'The podcast is archived.');
      },
      // This subject cannot be told either.
      { fail: { ...fail, commandType: 'podcast.fail_import' } },
    ),
  });
  await until(async () => (await jobOf(requested)).state === 'stopped');
  expect(tries).toBe(1);
  expect(running.errors).toEqual([]);
});

test('a job whose report is refused for its form is not tried again: the failure is reported and the error told', async () => {
  await empty();
  const requested = await plan(createWorld(management));
  let tries = 0;
  await using running = runner({
    compile_serving_plan: handlerOf(async ({ workspace_id: workspaceId, subject_id: id, ...job }) => {
      tries += 1;
      const envelope = { workspaceId, idempotencyKey: `${job.lease_id}:fail`, reason: leaseOf(job) };
      const changes = { problem: { code: 'Not one of ours', detail: '' } };
      await executeAsManagement(management.execute, envelope, { type: 'serving_plan.fail', id, changes });
    }),
  });
  await until(async () => (await jobOf(requested)).state === 'done');
  expect((await stateOf(requested)).attributes['problem']).toEqual(fail.problem);
  expect(tries).toBe(1);
  expect(running.errors).toMatchObject([{ code: 'validation_failed' }]);
});

test('a stopping service releases its jobs at once, and the attempt does not count', async () => {
  await empty();
  const requested = await plan(createWorld(management));
  let working = false;
  const first = runner({
    compile_serving_plan: handlerOf((job, signal) => {
      working = true;
      return forEver(job, signal);
    }),
  });
  await until(async () => working);
  await first[Symbol.asyncDispose]();
  expect(first.errors).toEqual([]);
  expect(await jobOf(requested)).toMatchObject({ state: 'running', attempt: 0 });
  await using _second = runner({ compile_serving_plan: createCompileHandler(management) });
  await until(async () => (await stateOf(requested)).lifecycle_state === 'ready');
});

test('the job of a crashed process is taken over when its lease has ended', async () => {
  await empty();
  const requested = await plan(createWorld(management));
  await claimJob(management.pool, ['compile_serving_plan'], 'dead', 150);
  await using _runner = runner({ compile_serving_plan: createCompileHandler(management) });
  await until(async () => (await stateOf(requested)).lifecycle_state === 'ready');
  expect(await jobOf(requested)).toMatchObject({ state: 'done', attempt: 2 });
});

test('a lease is renewed while its job runs, and a job that is stopped elsewhere stops the handler', async () => {
  await empty();
  const requested = await plan(createWorld(management));
  let stopped: unknown;
  await using running = runner(
    {
      compile_serving_plan: handlerOf(async (_job, signal) => {
        const seen = new Set<number>();
        await until(async () => seen.add((await jobOf(requested)).lease_until!.getTime()).size >= 3);
        expect(await claimJob(management.pool, ['compile_serving_plan'], 'other', 1)).toBeUndefined();
        await management.pool.query(`update job set state = 'stopped', stop_requested = true where subject_id = $1`, [
          requested.id,
        ]);
        stopped = await forEver(_job, signal).catch((reason: unknown) => reason);
      }),
    },
    { leaseMs: 240 },
  );
  await until(async () => stopped !== undefined);
  expect(running.errors).toEqual([]);
  expect(await jobOf(requested)).toMatchObject({ state: 'stopped', attempt: 1 });
});
