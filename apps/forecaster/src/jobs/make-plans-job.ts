import type { RpcClient } from '@longwave/rpc';
import type { Job, JobServiceService } from '@longwave/rpc/job';
import type { PacingPlan, PacingServiceService } from '@longwave/rpc/serving';
import type { FoundRisks } from '../compute/find-risks.ts';
import type { MadePlans } from '../compute/make-pacing-plans.ts';
import type { Question } from '../compute/question.ts';

export interface PlansJobDeps {
  readonly jobs: Pick<RpcClient<typeof JobServiceService>, 'endJob'>;
  readonly pacing: Pick<RpcClient<typeof PacingServiceService>, 'putPlans' | 'putFindings'>;
  readonly makePlans: (question: Extract<Question, { type: 'plans' }>, signal: AbortSignal) => Promise<MadePlans>;
  readonly findRisks: (question: Extract<Question, { type: 'risks' }>, signal: AbortSignal) => Promise<FoundRisks>;
}

/** Plans and hours of one request. */
const maxPlans = 300;
const maxFindings = 10_000;
const readMs = 60_000;
const putMs = 30_000;
const endMs = 10_000;

/** At least one piece, as the last one removes what the making left out. */
function piecesOf(plans: readonly PacingPlan[]): readonly (readonly PacingPlan[])[] {
  const pieces = [];
  for (let at = 0; at === 0 || at < plans.length; at += maxPlans) pieces.push(plans.slice(at, at + maxPlans));
  return pieces;
}

/**
 * Makes the plans of the job's workspace and gives them to internal-serving; then finds by a forecast which line items, or days of them, will end short. A try that fails gives the same plans again; a job that ended
 * meanwhile did so in full, as the newest inputs win.
 * @param signal aborted with a `LeaseEnded` when the lease has ended
 */
export async function makePlansJob(
  { jobId, leaseId, workspaceId }: Job,
  { jobs, pacing, makePlans, findRisks }: PlansJobDeps,
  signal: AbortSignal,
): Promise<'completed' | 'lost'> {
  const { asOfMs, plans } = await makePlans({ type: 'plans', workspaceId, deadlineMs: readMs }, signal);
  const pieces = piecesOf(plans);
  for (const [at, piece] of pieces.entries()) {
    signal.throwIfAborted();
    const request = { workspaceId, asOfMs: BigInt(asOfMs), plans: [...piece], isLast: at === pieces.length - 1 };
    await pacing.putPlans(request, { deadlineMs: putMs });
  }
  const lineItemIds = plans.flatMap(({ lineItemId, learning }) => (learning ? [] : [lineItemId]));
  const risks = await findRisks({ type: 'risks', workspaceId, lineItemIds, deadlineMs: readMs }, signal);
  const asOf = BigInt(risks.asOfMs);
  for (const [kind, found] of [
    ['at_risk', risks.atRisk],
    ['daily_min_unreachable', risks.shortDays],
  ] as const) {
    const findings = found.slice(0, maxFindings);
    await pacing.putFindings({ workspaceId, kind, asOfMs: asOf, findings }, { deadlineMs: putMs });
  }
  const { ended } = await jobs.endJob({ jobId, leaseId }, { deadlineMs: endMs });
  return ended ? 'completed' : 'lost';
}
