import { rpcService, type RpcService } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import type { DecidePlay } from './decisions/decide-play.ts';
import type { FindDecisions } from './decisions/find-decisions.ts';
import type { ReplayDecisions } from './decisions/replay-decision.ts';

/** The RPCs of this service. */
export const servingServices = (
  decide: DecidePlay,
  { replay, explain }: ReplayDecisions,
  find: FindDecisions,
): readonly RpcService[] => [
  rpcService(
    ServingServiceService,
    {
      decide: ['public-delivery', 'operator'],
      replay: ['operator'],
      explain: ['management', 'operator'],
      find: ['management', 'operator'],
    },
    { decide, replay, explain, find },
  ),
];
