import { rpcService, type RpcService } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import type { DecidePlay } from './decisions/decide-play.ts';

/** The RPCs of this service. */
export const servingServices = (decide: DecidePlay): readonly RpcService[] => [
  rpcService(ServingServiceService, { decide: ['public-delivery', 'operator'] }, { decide }),
];
