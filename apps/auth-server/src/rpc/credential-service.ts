import { rpcService, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { CredentialServiceService } from '@longwave/rpc/credential';
import { gateways } from '@longwave/services';

/** Credentials of requests, verified for gateways and for management, whose HTTP API people call directly. */
export function credentialService({ verify, followChanges }: RpcHandlers<typeof CredentialServiceService>): RpcService {
  const callers = [...gateways, 'management'] as const;
  return rpcService(CredentialServiceService, { verify: callers, followChanges: callers }, { verify, followChanges });
}
