import type { RpcChannel } from '@longwave/rpc';
import { commandExecution } from './execute-command.ts';
import { encodingReads } from './read-encodings.ts';
import { feedReads } from './read-feeds.ts';
import { resourceReads } from './read-resources.ts';
import { urlSigning } from './sign-urls.ts';

/** Management on behalf of a person: reads, commands and signed addresses. */
export const createManagement = (channel: RpcChannel) => ({
  ...resourceReads(channel),
  ...commandExecution(channel),
  ...encodingReads(channel),
  ...feedReads(channel),
  ...urlSigning(channel),
});

export type Management = ReturnType<typeof createManagement>;
