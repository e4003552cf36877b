import { operations } from '@longwave/command-catalog';
import { Problem, type ProblemCode } from '@longwave/problems';

/** Seconds until a repetition may succeed, where a problem does not say. */
const defaultRetrySeconds = 1;

/** Problems after which the same request may be sent again later. */
const isPassing = ({ code, status }: Problem): boolean =>
  status === 503 || status === 504 || code === 'idempotency_in_progress';

/** Problems that the list of types and commands helps to repair. */
const aboutCatalog: readonly ProblemCode[] = ['unknown_command', 'unknown_resource_type', 'validation_failed'];

/** The address that helps most to recover from a problem; undefined when none does. */
function recoveryUrlOf({ code, context: { subject, operationId } }: Problem, root: string, pathWorkspaceId: string) {
  const workspaceId = pathWorkspaceId || (subject?.type === 'workspaces' ? subject.id : null);
  if (workspaceId) {
    const workspace = `${root}/workspaces/${encodeURIComponent(workspaceId)}`;
    if (operationId !== undefined) return `${workspace}/operations/${operationId}`;
    if (subject?.id) {
      // Operations have a path of their own.
      const place = subject.type === operations.type ? operations.type : `resources/${subject.type}`;
      return `${workspace}/${place}/${subject.id}`;
    }
  }
  if (code === 'invalid_cursor') return undefined;
  return aboutCatalog.includes(code) ? `${root}/catalog` : undefined;
}

/**
 * A problem as the Management API answers it: with the address of the subject, the operation or the catalog, and with the seconds to wait
 * where the same request may be repeated.
 * @param root `{api_url}/management/v1`
 * @param workspaceId of the path; empty for a path without one, where only a subject that is itself a workspace has an address
 */
export function completeProblem(problem: Problem, root: string, workspaceId: string): Problem {
  const { code, message, context } = problem;
  const recoveryUrl = context.recoveryUrl ?? recoveryUrlOf(problem, root, workspaceId);
  return new Problem(code, message, {
    ...context,
    ...(recoveryUrl !== undefined && { recoveryUrl }),
    ...(isPassing(problem) && { retryAfterSeconds: context.retryAfterSeconds ?? defaultRetrySeconds }),
  });
}
