import type { RpcService } from '@longwave/rpc';
import { accountService } from './account-service.ts';
import { commandService } from './command-service.ts';
import { credentialService } from './credential-service.ts';
import { machineTokenService } from './machine-token-service.ts';
import { resourceService } from './resource-service.ts';

type ServerOptions = Parameters<typeof credentialService>[0] &
  Parameters<typeof accountService>[0] &
  Parameters<typeof commandService>[0] &
  Parameters<typeof machineTokenService>[0] &
  Parameters<typeof resourceService>[0];

/** Every gRPC service of auth-server. */
export function authServices(options: ServerOptions): RpcService[] {
  return [
    credentialService(options),
    accountService(options),
    commandService(options),
    machineTokenService(options),
    resourceService(options),
  ];
}
