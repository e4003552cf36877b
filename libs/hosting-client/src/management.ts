import { identityCatalog, productCatalog, type IdentityCommand, type ProductCommand } from '@longwave/command-catalog';
import type { RpcChannel } from '@longwave/rpc';
import { accountReads } from './read-account.ts';
import { commandExecution } from './execute-command.ts';
import { encodingReads } from './read-encodings.ts';
import { deliveryReads } from './read-deliveries.ts';
import { feedReads } from './read-feeds.ts';
import { resourceReads } from './read-resources.ts';
import { urlSigning } from './sign-urls.ts';

/** Management on behalf of a person: reads, commands and signed addresses. */
export const createManagement = (channel: RpcChannel) => ({
  ...resourceReads(channel),
  ...commandExecution<ProductCommand>(channel, productCatalog),
  ...encodingReads(channel),
  ...feedReads(channel),
  ...deliveryReads(channel),
  ...urlSigning(channel),
});

export type Management = ReturnType<typeof createManagement>;

/** Members, keys and the account on behalf of a person. */
export const createIdentity = (channel: RpcChannel) => ({
  ...commandExecution<IdentityCommand>(channel, identityCatalog),
  ...accountReads(channel),
});

export type Identity = ReturnType<typeof createIdentity>;
