import { webhookDeliverySchema, type WebhookDelivery } from '@longwave/command-catalog';
import type { RpcChannel } from '@longwave/rpc';
import { WebhookServiceService } from '@longwave/rpc/webhook';
import { callOptions, type Asker } from './asker.ts';

const pageSize = 200;

/** Deliveries to webhook endpoints. */
export function deliveryReads(channel: RpcChannel) {
  const webhooks = channel.client(WebhookServiceService);
  return {
    /** Deliveries to one endpoint, the newest first, a page at a time. */
    async *deliveries(
      asker: Asker,
      endpoint: { readonly workspaceId: string; readonly endpointId: string },
      states: readonly WebhookDelivery['state'][] = [],
    ): AsyncGenerator<readonly WebhookDelivery[]> {
      for (let after = ''; ;) {
        const request = { ...endpoint, states: [...states], after, limit: pageSize };
        const { deliveriesJson } = await webhooks.listDeliveries(request, callOptions(asker));
        const found = deliveriesJson.map((json) => webhookDeliverySchema.parse(JSON.parse(json)));
        if (found.length > 0) yield found;
        if (found.length < pageSize) return;
        after = found.at(-1)!.id;
      }
    },
  };
}
