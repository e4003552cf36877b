import { webhookDeliveryStates, type WebhookDelivery } from '@longwave/command-catalog';
import type { ActorOfCall } from '@longwave/command-pipeline';
import { rpcService, type RpcService } from '@longwave/rpc';
import { WebhookServiceService } from '@longwave/rpc/webhook';
import type { Access } from '../workspace/access/access.ts';
import { shownTo } from '../workspace/access/shown-to.ts';
import type { ListDeliveries } from '../workspace/webhooks/delivery-list-table.ts';
import { readers } from './request-fields.ts';

const maxDeliveries = 200;

/** Deliveries to webhook endpoints; who sees an endpoint sees its deliveries, and who may change it what its host answered. */
export function webhookService({
  actorOf,
  access,
  listDeliveries,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly listDeliveries: ListDeliveries;
}): RpcService {
  const isState = (text: string): text is WebhookDelivery['state'] =>
    webhookDeliveryStates.some((state) => state === text);
  return rpcService(
    WebhookServiceService,
    { listDeliveries: readers },
    {
      listDeliveries: async ({ workspaceId, endpointId, states, after, limit }, context) => {
        const actor = await actorOf(context);
        const { resource } = await access.getVisible(actor, workspaceId, 'webhook_endpoints', endpointId);
        const shown = shownTo(actor);
        const found = await listDeliveries({
          endpointId,
          ...(states.length > 0 && { states: states.filter(isState) }),
          ...(after !== '' && { after }),
          limit: Math.min(Math.max(1, limit), maxDeliveries),
        });
        return {
          deliveriesJson: found.map((delivery) => JSON.stringify(shown.delivery(resource.workspace_id, delivery))),
        };
      },
    },
  );
}
