import type { ResourceView } from '@longwave/events';
import type { RpcChannel } from '@longwave/rpc';
import { EncodingQueueServiceService, EncodingTimeServiceService } from '@longwave/rpc/resource';
import { callOptions, type Asker } from './asker.ts';

/** Encoding time, and the queue of encodings. */
export function encodingReads(channel: RpcChannel) {
  const encodingTime = channel.client(EncodingTimeServiceService);
  const encodingQueue = channel.client(EncodingQueueServiceService);
  return {
    /** Encoding time of the asker's own workspace in the present month. */
    findEncodingTime: (asker: Asker) =>
      encodingTime.getEncodingTime({ workspaceId: asker.workspaceId }, callOptions(asker)),

    /** The place of a production in the queue of encodings; undefined when it is not being encoded. */
    findQueuePlace: async (asker: Asker, { workspace_id: workspaceId, id: productionId }: ResourceView) =>
      (await encodingQueue.getQueuePlace({ workspaceId, productionId }, callOptions(asker))).place,
  };
}
