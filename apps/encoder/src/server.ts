import { rpcService, type RpcService } from '@longwave/rpc';
import { ProbeServiceService } from '@longwave/rpc/probe';
import type { createProbe } from './probe.ts';

/** The RPCs of this service. */
export const encoderServices = (probe: ReturnType<typeof createProbe>): readonly RpcService[] => [
  rpcService(ProbeServiceService, { probe: ['management', 'rest-gateway', 'operator'] }, { probe }),
];
