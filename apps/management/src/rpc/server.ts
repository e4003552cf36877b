import { createActorOfCall, receiptService } from '@longwave/command-pipeline';
import type { PrincipalKeys } from '@longwave/principal';
import type { RpcService } from '@longwave/rpc';
import { bookingService } from './booking-service.ts';
import { commandService } from './command-service.ts';
import { encodingQueueService } from './encoding-queue-service.ts';
import { encodingTimeService } from './encoding-time-service.ts';
import { feedService } from './feed-service.ts';
import { jobService } from './job-service.ts';
import { operationService } from './operation-service.ts';
import { resourceService } from './resource-service.ts';
import { uploadService } from './upload-service.ts';
import { webhookService } from './webhook-service.ts';

type OptionsOf<S extends (options: never) => RpcService> = Omit<Parameters<S>[0], 'actorOf'>;
type ServerOptions = OptionsOf<typeof commandService> &
  OptionsOf<typeof resourceService> &
  OptionsOf<typeof encodingTimeService> &
  OptionsOf<typeof encodingQueueService> &
  OptionsOf<typeof operationService> &
  OptionsOf<typeof uploadService> &
  OptionsOf<typeof feedService> &
  OptionsOf<typeof webhookService> &
  Omit<OptionsOf<typeof receiptService>, 'callers'> &
  OptionsOf<typeof bookingService> &
  OptionsOf<typeof jobService> & { readonly principalKeys: PrincipalKeys };

/** Every gRPC service of management. */
export function managementServices(options: ServerOptions): RpcService[] {
  const shared = { ...options, actorOf: createActorOfCall(options.principalKeys, options.clock) };
  return [
    commandService(shared),
    resourceService(shared),
    encodingTimeService(shared),
    encodingQueueService(shared),
    operationService(shared),
    uploadService(shared),
    feedService(shared),
    jobService(shared),
    bookingService(shared),
    webhookService(shared),
    // Platforms verify that their messages were accepted.
    receiptService({ ...options, callers: ['hosting-exchange'] }),
  ];
}
