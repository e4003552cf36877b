import type { RpcClient } from '@longwave/rpc';
import type { AlertFinding, PacingServiceService } from '@longwave/rpc/serving';

export type FindingsClient = Pick<RpcClient<typeof PacingServiceService>, 'putFindings'>;

const answerMs = 10_000;
/** Findings of one workspace. */
const maxFindings = 10_000;

/** Tells internal-serving, which raises alerts, what management finds of one kind. */
export function createTellFindings(serving: FindingsClient, kind: 'discrepancy' | 'ending') {
  /** What this process told last, by workspace. */
  const told = new Map<string, string>();
  return {
    /** Workspaces that it told something of. */
    workspaceIds: (): Iterable<string> => told.keys(),
    /** Tells what is found in a workspace, where that has changed. @param found the most important ones first; those behind 10,000 are left out */
    tell: async (workspaceId: string, found: readonly AlertFinding[], asOf: Date): Promise<void> => {
      const findings = found.slice(0, maxFindings);
      const content = JSON.stringify(findings);
      if (told.get(workspaceId) === content) return;
      const request = { workspaceId, kind, asOfMs: BigInt(asOf.getTime()), findings };
      await serving.putFindings(request, { deadlineMs: answerMs });
      told.set(workspaceId, content);
    },
  };
}
