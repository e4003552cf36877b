import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import { z } from 'zod';
import type { DecidePlay } from './decisions/decide-play.ts';
import type { FindDecisions } from './decisions/find-decisions.ts';
import type { PreviewPlay } from './decisions/preview-play.ts';
import type { ReplayDecisions } from './decisions/replay-decision.ts';
import type { ListenerMemory } from './listeners/listener-memory.ts';

const forgetRequest = z.strictObject({
  workspaceId: z.string().min(1).max(64),
  listenerBuckets: z.array(z.instanceof(Uint8Array).refine((bytes) => bytes.length === 16)),
});

/** The RPCs of this service. */
export const servingServices = (
  decide: DecidePlay,
  previewDecision: PreviewPlay,
  { replay, explain }: ReplayDecisions,
  find: FindDecisions,
  listeners: Pick<ListenerMemory, 'forget'>,
  /** Blanks the codes of listeners in the sample of plays; answers how many plays had one. */
  forgetSampled: (workspaceId: string, buckets: readonly string[]) => Promise<number>,
): readonly RpcService[] => [
  rpcService(
    ServingServiceService,
    {
      decide: ['public-delivery', 'operator'],
      previewDecision: ['public-delivery'],
      replay: ['operator'],
      explain: ['management', 'operator'],
      find: ['management', 'operator'],
      forgetListeners: ['management'],
    },
    {
      ...{ decide, previewDecision, replay, explain, find },
      forgetListeners: async (request) => {
        const { workspaceId, listenerBuckets } = parseOrProblem(forgetRequest, request);
        const buckets = listenerBuckets.map((bytes) => Buffer.from(bytes).toString('hex'));
        const records = await listeners.forget(workspaceId, buckets).catch((cause: unknown) => {
          throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });
        });
        const plays = await forgetSampled(workspaceId, buckets);
        return { records: BigInt(records), sampledPlays: BigInt(plays) };
      },
    },
  ),
];
