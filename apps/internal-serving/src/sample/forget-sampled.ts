import type { Pool } from '@longwave/postgres';
import type { PlayListeners } from './play-listeners.ts';
import { insertErasedCodes } from './erased-code-table.ts';
import { forgetCodes } from './play-sample-table.ts';
import { findOrMakeSecret, listenerCode, listSecrets, monthOf } from './sample-secret-table.ts';

/**
 * Blanks what the sample has of listeners in a workspace, and keeps out what other nodes and the sampler still know of them. Of months
 * whose secret is destroyed there is no code left.
 * @returns blanks the codes of these buckets (16 bytes in hex); answers how many plays had one
 */
export const createForgetSampled =
  (pool: Pool, listeners: Pick<PlayListeners, 'flush'>, clock: () => Date) =>
  async (workspaceId: string, buckets: readonly string[]): Promise<number> => {
    if (buckets.length === 0) return 0;
    await listeners.flush();
    // Another node may have met the first plays of the month, and not written them yet.
    await findOrMakeSecret(pool, monthOf(clock()));
    const secrets = await listSecrets(pool);
    const codes = secrets.flatMap((secret) => buckets.map((bucket) => listenerCode(secret, { workspaceId, bucket })));
    await insertErasedCodes(pool, workspaceId, codes);
    return forgetCodes(pool, workspaceId, codes);
  };
