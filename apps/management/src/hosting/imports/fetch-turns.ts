import { Problem } from '@longwave/problems';
import { createGate, createGates } from '@longwave/service-kit';

/** How long a caller waits for its turn; a fetch must still fit before its deadline. */
const turnWaitMs = 6_000;

/**
 * Makes a function that lets feeds be fetched in turns: a workspace fetches one at a time, so that its slow hosts do not delay the others,
 * and the process `atOnce`, because it holds them in memory. Throws `temporarily_unavailable` when other feeds take too long.
 */
export function createFetchTurns(atOnce: number) {
  const gate = createGate(atOnce);
  const gateOfWorkspace = createGates(1);
  return async <T>(workspaceId: string, work: () => Promise<T>): Promise<T> => {
    const turn = AbortSignal.timeout(turnWaitMs);
    try {
      return await gateOfWorkspace(workspaceId)(() => gate(work, turn), turn);
    } catch (error) {
      if (error !== turn.reason) throw error;
      throw new Problem('temporarily_unavailable', 'Other feeds are being fetched. Try again in a moment.', {
        retryAfterSeconds: 5,
      });
    }
  };
}
