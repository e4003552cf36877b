import type { ActorOfCall } from '@longwave/command-pipeline';
import { rpcService, type RpcService } from '@longwave/rpc';
import { EncodingQueueServiceService } from '@longwave/rpc/resource';
import type { FindQueuePlace } from '../background/queue-forecast.ts';
import type { Access } from '../workspace/access/access.ts';
import { namedWorkspace, readers } from './request-fields.ts';

/** The place of a production in the queue. */
export function encodingQueueService({
  actorOf,
  access,
  findQueuePlace,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly findQueuePlace: FindQueuePlace;
}): RpcService {
  return rpcService(
    EncodingQueueServiceService,
    { getQueuePlace: readers },
    {
      getQueuePlace: async ({ workspaceId, productionId }, context) => {
        await access.getVisible(await actorOf(context), namedWorkspace(workspaceId), 'productions', productionId);
        const place = await findQueuePlace(productionId);
        return {
          place: place && {
            position: place.position,
            startsInMs: BigInt(place.startsInMs),
            endsInMs: BigInt(place.endsInMs),
          },
        };
      },
    },
  );
}
