import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcService } from '@longwave/rpc';
import { JobServiceService } from '@longwave/rpc/job';
import { claimJob, renewLease } from '../background/job-table.ts';

/** Jobs of encoders, under leases. */
export function jobService({ pool, leaseMs }: { readonly pool: Pool; readonly leaseMs: number }): RpcService {
  return rpcService(
    JobServiceService,
    { claimJob: ['encoder'], renewLease: ['encoder'] },
    {
      claimJob: async ({ workerId, kinds, maxExpectedMs }) => {
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
      renewLease: ({ jobId, leaseId }) => renewLease(pool, jobId, leaseId, leaseMs),
    },
  );
}
