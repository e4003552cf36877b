import { createActorOfCall, receiptService } from '@longwave/command-pipeline';
import type { PrincipalKeys } from '@longwave/principal';
import type { RpcService } from '@longwave/rpc';
import { accountService } from './account-service.ts';
import { clientService } from './client-service.ts';
import { commandService } from './command-service.ts';
import { credentialService } from './credential-service.ts';
import { machineTokenService } from './machine-token-service.ts';
import { resourceService } from './resource-service.ts';

type Shared = Parameters<typeof accountService>[0] & Parameters<typeof commandService>[0];
type ServerOptions = Omit<Shared, 'actorOf'> &
  Parameters<typeof credentialService>[0] &
  Parameters<typeof clientService>[0] &
  Parameters<typeof machineTokenService>[0] &
  Omit<Parameters<typeof receiptService>[0], 'callers'> &
  Parameters<typeof resourceService>[0] & {
    /** Public keys of statements about principals. */
    readonly principalKeys: PrincipalKeys;
    readonly clock: () => Date;
  };

/** Every gRPC service of auth-server. */
export function authServices(options: ServerOptions): RpcService[] {
  const shared = { ...options, actorOf: createActorOfCall(options.principalKeys, options.clock) };
  return [
    credentialService(options),
    accountService(shared),
    clientService(options),
    commandService(shared),
    machineTokenService(options),
    // Management asks for the people of a workspace, after it has checked what they may read.
    receiptService({ ...options, callers: ['management'] }),
    resourceService(options),
  ];
}
