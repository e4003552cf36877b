import { rpcService, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { CredentialServiceService } from '@longwave/rpc/credential';
import { gateways } from '@longwave/services';

/** Credentials of requests, verified for gateways and for management, whose HTTP API people call directly. */
export function credentialService({ verify }: RpcHandlers<typeof CredentialServiceService>): RpcService {
  return rpcService(CredentialServiceService, { verify: [...gateways, 'management'] }, { verify });
}
