import { webhookDeliverySchema, webhookDeliveryStates } from '@longwave/command-catalog';
import { openCursor, sealCursor } from '@longwave/command-pipeline';
import { z } from 'zod';
import { pageQuery } from '../list-query.ts';
import { json, type ManagementRoute } from '../management-route.ts';
import { shownTo } from '../../workspace/access/shown-to.ts';

const deliveryQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(webhookDeliveryStates).optional().describe('Only deliveries in this state.'),
});

const deliveryPage = z.strictObject({
  rows: z.array(webhookDeliverySchema).describe('Newest first.'),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

const listDeliveriesOf: ManagementRoute = {
  operation: 'webhook_delivery.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/webhook-endpoints/{endpoint_id}/deliveries',
  summary: 'What was sent to a webhook endpoint, and how it went.',
  note: 'Deliveries are kept for 30 days. The command `webhook_endpoint.replay` sends them again.',
  scope: 'management:read',
  query: deliveryQuery,
  answers: {
    200: { description: 'A page of deliveries.', body: { name: 'WebhookDeliveryPage', schema: deliveryPage } },
  },
  refusals: ['not_found', 'invalid_cursor'],
  answer: async ({ actor, workspaceId, parameter, query }, { access, listDeliveries, cursorKey, clock }) => {
    const endpointId = parameter('endpoint_id');
    await access.getVisible(actor, workspaceId, 'webhook_endpoints', endpointId);
    const { limit, cursor: text, state } = query as z.output<typeof deliveryQuery>;
    const listing = `webhook_deliveries ${endpointId} ${state ?? ''}`;
    const now = clock();
    const after = text === undefined ? undefined : openCursor(cursorKey, listing, text, now).id;
    const found = await listDeliveries({ endpointId, after, limit: limit + 1, ...(state && { states: [state] }) });
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : undefined;
    return json({
      rows: shown.map((delivery) => shownTo(actor).delivery(workspaceId, delivery)),
      limit,
      ...(last && { next_cursor: sealCursor(cursorKey, listing, { sortValues: [], id: last.id }, now) }),
    });
  },
};

/** Deliveries to webhook endpoints; the endpoints themselves are resources. */
export const webhookRoutes: readonly ManagementRoute[] = [listDeliveriesOf];
