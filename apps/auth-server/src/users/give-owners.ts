import type { Pool } from '@longwave/postgres';
import { pollLoop, type PollLoop } from '@longwave/worker-kit';
import type { Logger } from '@longwave/service-kit';
import type { SendCommand } from '../send-command.ts';
import { findUserByEmail, listOwnerless } from './user-table.ts';

type Ownerless = Awaited<ReturnType<typeof listOwnerless>>[number];

/** The person with the address of an account; one who is new has to answer a mail before the address counts as verified. */
async function ownerOf(pool: Pool, send: SendCommand, account: Ownerless): Promise<string> {
  const { email, name } = account.attributes;
  const known = await findUserByEmail(pool, email);
  if (known) return known.id;
  const changes = { name, email, email_verified: false };
  return (await send('user.create', account.workspace_id, undefined, changes, { key: `owner-of-${account.id}` })).id;
}

/**
 * Gives every account that has an address and no owner its owner: the operator makes accounts without one. The keys of the work make it
 * harmless when two processes do it at once, or one does it twice.
 */
export function giveOwners(deps: {
  readonly pool: Pool;
  readonly send: SendCommand;
  readonly logger: Logger;
}): PollLoop {
  const { pool, send, logger } = deps;
  return pollLoop({
    run: async (signal) => {
      let after = '';
      for (;;) {
        const found = await listOwnerless(pool, after);
        for (const account of found) {
          if (signal.aborted) return;
          after = account.id;
          try {
            const changes = { owner_user_id: await ownerOf(pool, send, account) };
            const key = `owner-of-${account.id}-${changes.owner_user_id}`;
            await send('account.assign_owner', account.workspace_id, account.id, changes, { key });
          } catch (error) {
            logger.warn({ err: error, account_id: account.id }, 'account.owner_missing');
          }
        }
        if (found.length === 0) return;
      }
    },
    everyMs: 60_000,
    onError: (error) => logger.warn({ err: error }, 'account.owners_missing'),
  });
}
