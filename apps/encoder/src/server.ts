import { rpcService, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { ProbeServiceService } from '@longwave/rpc/probe';

/** The RPCs of this service. */
export const encoderServices = (handlers: RpcHandlers<typeof ProbeServiceService>): readonly RpcService[] => [
  rpcService(
    ProbeServiceService,
    { prepareArtwork: ['management', 'operator'], probe: ['management', 'operator'] },
    handlers,
  ),
];
