import type { RpcChannel } from '@longwave/rpc';
import { AccountServiceService, type Key, type Member } from '@longwave/rpc/credential';
import { callOptions, type Asker } from './asker.ts';

const pageSize = 200;

/** The pages of a list of auth-server; each begins after the last id of the one before. */
async function* pagesOf<T extends { readonly id: string }>(
  readPage: (page: { readonly after: string; readonly limit: number }) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let after = ''; ;) {
    const items = await readPage({ after, limit: pageSize });
    yield items;
    if (items.length < pageSize) return;
    after = items.at(-1)!.id;
  }
}

/** Reads of the account that the asker's credential belongs to. */
export function accountReads(channel: RpcChannel) {
  const accounts = channel.client(AccountServiceService);
  return {
    getAccount: (asker: Asker) => accounts.getAccount({}, callOptions(asker)),

    /** Members and waiting invitations, oldest first. Throws `permission_denied` unless the asker manages members. */
    memberPages: (asker: Asker): AsyncGenerator<readonly Member[]> =>
      pagesOf(async (page) => (await accounts.listMembers(page, callOptions(asker))).members),

    /** Keys, legacy tokens and the asker's own tokens for agents that were not revoked, oldest first. Throws `permission_denied` unless the asker manages members. */
    keyPages: (asker: Asker): AsyncGenerator<readonly Key[]> =>
      pagesOf(async (page) => (await accounts.listKeys(page, callOptions(asker))).keys),
  };
}
