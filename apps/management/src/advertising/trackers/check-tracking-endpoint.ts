import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';

/** For name, connection and the headers of the answer. */
const timeoutMs = 10_000;

/**
 * Asks the front page of the host of an address for its headers: the name leads to a public address, the certificate is valid, and a web
 * server answers, whatever it answers. The address itself is not called, because a call would count.
 * @returns why the host cannot be used; undefined: it can
 */
async function findFault(fetch: GuardedFetch, template: string, signal: AbortSignal): Promise<string | undefined> {
  // The host of a template has no macro.
  const [, origin = template] = /^(https:\/\/[^/?#]+)/i.exec(template) ?? [];
  try {
    using _answer = await fetch(`${origin}/`, {
      method: 'HEAD',
      maxBytes: 0,
      timeoutMs,
      followsRedirects: false,
      signal,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.message;
  }
}

/** Checks the host of a tracking endpoint, and activates the endpoint or says in words why it cannot be. */
export const createTrackingCheckHandler = ({
  pool,
  execute,
  fetch,
}: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly fetch: GuardedFetch;
}): JobHandler => ({
  maxAttempts: 20,
  concurrency: 4,
  fail: {
    commandType: 'tracking_endpoint.fail_validation',
    problem: { code: 'check_gave_up', detail: 'The address could not be checked. Send the command again.' },
  },
  run: async (job, signal) => {
    const { workspace_id: workspaceId, subject_id: id } = job;
    const endpoint = await findResource(pool, workspaceId, 'tracking_endpoints', id);
    const fault = endpoint && (await findFault(fetch, endpoint.attributes.url_template, signal));
    const send = { workspaceId, idempotencyKey: `${job.lease_id}:checked`, reason: leaseOf(job) };
    if (fault === undefined)
      await executeAsManagement(execute, send, { type: 'tracking_endpoint.record_validation', id, changes: {} });
    else
      await executeAsManagement(execute, send, {
        type: 'tracking_endpoint.fail_validation',
        id,
        changes: { problem: { code: 'host_not_usable', detail: fault } },
      });
  },
});
