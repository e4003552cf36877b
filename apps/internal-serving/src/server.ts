import { rpcService, type RpcService } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import type { DecidePlay } from './decisions/decide-play.ts';
import type { ReplayDecisions } from './decisions/replay-decision.ts';

/** The RPCs of this service. */
export const servingServices = (decide: DecidePlay, { replay, explain }: ReplayDecisions): readonly RpcService[] => [
  rpcService(
    ServingServiceService,
    {
      decide: ['public-delivery', 'operator'],
      replay: ['operator'],
      explain: ['operator'],
    },
    { decide, replay, explain },
  ),
];
