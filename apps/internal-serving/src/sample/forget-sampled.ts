import type { Pool } from '@longwave/postgres';
import type { PlayListeners } from './play-listeners.ts';
import { forgetCodes } from './play-sample-table.ts';
import { listenerCode, listSecrets } from './sample-secret-table.ts';

/**
 * Blanks what the sample has of listeners in a workspace. Codes of months whose secret is destroyed cannot be found, by nobody; they lead
 * to no one either.
 * @returns blanks the codes of these buckets (16 bytes in hex); answers how many plays had one
 */
export const createForgetSampled =
  (pool: Pool, listeners: Pick<PlayListeners, 'flush'>) =>
  async (workspaceId: string, buckets: readonly string[]): Promise<number> => {
    if (buckets.length === 0) return 0;
    await listeners.flush();
    const secrets = await listSecrets(pool);
    const codes = secrets.flatMap((secret) => buckets.map((bucket) => listenerCode(secret, bucket)));
    return codes.length > 0 ? forgetCodes(pool, workspaceId, codes) : 0;
  };
