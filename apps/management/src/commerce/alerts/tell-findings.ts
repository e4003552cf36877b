import type { RpcClient } from '@longwave/rpc';
import type { AlertFinding, PacingServiceService } from '@longwave/rpc/serving';

export type FindingsClient = Pick<RpcClient<typeof PacingServiceService>, 'putFindings'>;

const answerMs = 10_000;
/** Findings of one workspace. */
const maxFindings = 10_000;

/** Everything is told anew so often: what another process told last may not be so any more, and that one may have ended. */
const toldForMs = 3_600_000;

/** In place of what a workspace was told: nobody knows what has arrived, so it is told again. */
const notTold = '';

/** Tells internal-serving, which raises alerts, what management finds of one kind. */
export function createTellFindings(
  serving: FindingsClient,
  options: {
    readonly kind: 'discrepancy' | 'ending';
    /** The workspaces about which any process may have told something. */
    readonly listWorkspaces: () => Promise<readonly string[]>;
    /** Called with what failed of one workspace. */
    readonly onError: (error: unknown, workspaceId: string) => void;
  },
) {
  const { kind, listWorkspaces, onError } = options;
  /** The findings that this process told last, by workspace, and since when. */
  const told = new Map<string, string>();
  let sinceMs = -Infinity;

  async function tell(workspaceId: string, found: readonly AlertFinding[], asOf: Date): Promise<void> {
    const findings = found.slice(0, maxFindings);
    const content = JSON.stringify(findings);
    if (told.get(workspaceId) === content) return;
    const request = { workspaceId, kind, asOfMs: BigInt(asOf.getTime()), findings };
    await serving.putFindings(request, { deadlineMs: answerMs });
    told.set(workspaceId, content);
  }

  return {
    /** Workspaces to look at beside those in which something is found: at first and then each hour all, in between those that it told something of. */
    listWorkspaceIds: async (now: Date): Promise<Iterable<string>> => {
      if (now.getTime() - sinceMs < toldForMs) return told.keys();
      const all = await listWorkspaces();
      const known = [...told.keys()];
      told.clear();
      sinceMs = now.getTime();
      return new Set([...all, ...known]);
    },
    /**
     * Tells what is found in each workspace, where that has changed. What fails for one holds no other up; it is told at the next look.
     * @param find the most important ones first; those behind 10,000 are left out
     */
    tellEach: async (
      workspaceIds: Iterable<string>,
      find: (workspaceId: string) => Promise<readonly AlertFinding[]> | readonly AlertFinding[],
      asOf: Date,
    ): Promise<void> => {
      for (const workspaceId of new Set(workspaceIds))
        try {
          await tell(workspaceId, await find(workspaceId), asOf);
        } catch (error) {
          told.set(workspaceId, notTold);
          onError(error, workspaceId);
        }
    },
  };
}
