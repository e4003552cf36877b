import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcService } from '@longwave/rpc';
import { JobServiceService } from '@longwave/rpc/job';
import { encodingJobKinds, forecastJobKinds } from '@longwave/events';
import { claimJob, endJob, renewLease } from '../background/job-table.ts';

/** The jobs that each worker may have. */
const kindsOf = { encoder: encodingJobKinds, forecaster: forecastJobKinds } as const;
const workers = ['encoder', 'forecaster'] as const;

/** Jobs of encoders and forecasters, under leases. */
export function jobService({ pool, leaseMs }: { readonly pool: Pool; readonly leaseMs: number }): RpcService {
  return rpcService(
    JobServiceService,
    { claimJob: workers, renewLease: workers, endJob: ['forecaster'] },
    {
      claimJob: async ({ workerId, kinds: asked, maxExpectedMs }, { caller }) => {
        const own: readonly string[] = kindsOf[caller as keyof typeof kindsOf];
        const kinds = asked.filter((kind) => own.includes(kind));
        if (kinds.length === 0) return { job: undefined };
        const job = await claimJob(pool, kinds, workerId, leaseMs, maxExpectedMs);
        if (!job) return { job: undefined };
        return {
          job: {
            jobId: job.id,
            leaseId: job.lease_id,
            leaseMs,
            kind: job.kind,
            workspaceId: job.workspace_id,
            subjectType: job.subject_type,
            subjectId: job.subject_id,
            subjectVersion: job.subject_version,
            attempt: job.attempt,
            inputJson: JSON.stringify(job.input),
            traceparent: job.traceparent ?? undefined,
          },
        };
      },
      endJob: async ({ jobId, leaseId }) => ({ ended: await endJob(pool, jobId, leaseId, ['make_pacing_plans']) }),
      renewLease: ({ jobId, leaseId }) => renewLease(pool, jobId, leaseId, leaseMs),
    },
  );
}
