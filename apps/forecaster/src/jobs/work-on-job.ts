import type { ChangesInput, MachineCommand } from '@longwave/command-catalog';
import { forecastJobInputs, type ForecastJobInput } from '@longwave/events';
import type { RpcClient } from '@longwave/rpc';
import type { CommandServiceService } from '@longwave/rpc/command';
import type { Job } from '@longwave/rpc/job';
import type { Logger } from '@longwave/service-kit';
import { LeaseEnded, reportByCommand } from '@longwave/worker-kit';
import type { Question } from '../compute/question.ts';
import type { ForecastResult } from '../compute/make-forecast.ts';
import { makePlansJob, type PlansJobDeps } from './make-plans-job.ts';

type Report = {
  readonly [C in MachineCommand<'forecaster'>]: { readonly commandType: C; readonly changes: ChangesInput<C> };
}[MachineCommand<'forecaster'>];

export interface JobDeps extends PlansJobDeps {
  readonly commands: Pick<RpcClient<typeof CommandServiceService>, 'execute'>;
  /** Makes a forecast; ends when the signal says so. */
  readonly forecast: (
    question: Extract<Question, { type: 'forecast' }>,
    signal: AbortSignal,
  ) => Promise<ForecastResult>;
  readonly logger: Logger;
}

/** The end of one try at a job. `retry` lets the lease expire, so that another try takes the job. */
export type JobEnd = 'completed' | 'failed' | 'refused' | 'unknown' | 'retry' | 'stopped' | 'lost' | 'shutdown';

const maxAttempts = 3;
/** The longest that inputs may take to be read. */
const readMs = 60_000;
const gaveUp = {
  code: 'forecast_gave_up',
  detail: 'The forecast could not be made because of a fault on our side. Request another one.',
};

/**
 * One try at a leased job: says that it has begun, makes the forecast, reports it; or makes plans and ends the job. A failure of ours is
 * reported after the third try.
 * @param signal aborted with a `LeaseEnded` when the lease has ended
 */
export async function workOnJob(job: Job, deps: JobDeps, signal: AbortSignal): Promise<JobEnd> {
  let end: JobEnd = 'retry';
  try {
    end = await (job.kind === 'make_pacing_plans' ? tryPlans(job, deps, signal) : tryForecast(job, deps, signal));
  } catch (error) {
    if (error instanceof LeaseEnded) end = error.reason;
    else deps.logger.error({ err: error, job_id: job.jobId, attempt: job.attempt }, 'job.try_failed');
  }
  deps.logger.info(
    { job_id: job.jobId, kind: job.kind, subject_id: job.subjectId, attempt: job.attempt, end },
    'job.ended',
  );
  return end;
}

/** Plans that cannot be made are due again the next night, or with the next change. */
async function tryPlans(job: Job, deps: JobDeps, signal: AbortSignal): Promise<JobEnd> {
  if (job.attempt <= maxAttempts) return makePlansJob(job, deps, signal);
  const { ended } = await deps.jobs.endJob({ jobId: job.jobId, leaseId: job.leaseId }, { deadlineMs: readMs });
  return ended ? 'failed' : 'lost';
}

async function tryForecast(job: Job, { commands, forecast, logger }: JobDeps, signal: AbortSignal): Promise<JobEnd> {
  const report = async (step: string, command: Report): Promise<'accepted' | JobEnd> => {
    const outcome = await reportByCommand(commands.execute, job, step, command, signal);
    if (outcome.kind === 'refused')
      logger.warn({ job_id: job.jobId, code: outcome.problem.code }, 'job.report_refused');
    return outcome.kind;
  };
  const fail = async () => {
    const outcome = await report('fail', { commandType: 'forecast.fail', changes: { problem: gaveUp } });
    return outcome === 'accepted' ? 'failed' : outcome;
  };
  // Tries that reported nothing have killed their process.
  if (job.attempt > maxAttempts) return fail();
  const input: ForecastJobInput = forecastJobInputs.run_forecast.parse(JSON.parse(job.inputJson));
  const begun = await report('start', { commandType: 'forecast.start', changes: {} });
  if (begun !== 'accepted') return begun;
  let result: ForecastResult;
  try {
    const question = { type: 'forecast', workspaceId: job.workspaceId, input, deadlineMs: readMs } as const;
    result = await forecast(question, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason ?? error;
    if (job.attempt < maxAttempts) throw error;
    logger.error({ err: error, job_id: job.jobId, attempt: job.attempt }, 'job.given_up');
    return fail();
  }
  const outcome = await report('complete', { commandType: 'forecast.complete', changes: result });
  return outcome === 'accepted' ? 'completed' : outcome;
}
