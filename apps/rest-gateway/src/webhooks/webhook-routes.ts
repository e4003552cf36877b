import { productCatalog, webhookDeliverySchema, webhookDeliveryStates } from '@longwave/command-catalog';
import { views, type Executed } from '@longwave/hosting-client';
import { z } from 'zod';
import { listQuery, renderList } from '../list-answer.ts';
import {
  change,
  changesFrom,
  commandRoute,
  createdAnswer,
  creating,
  list,
  read,
  remove,
  resourceAnswer,
  sendToObject,
} from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type Route } from '../route.ts';

const { commands } = productCatalog;
const endpointIn = { type: 'webhook_endpoints', from: 'path', field: 'id' } as const;

/** An endpoint with its new secret. */
const withSecret: AnswerShape = {
  name: 'WebhookEndpointWithSecret',
  schema: views.webhook_endpoints.schema.extend({
    secret: z
      .string()
      .optional()
      .describe(
        'Verifies the signatures. Only this answer has it, and a retry under the same Idempotency-Key for an hour.',
      ),
  }),
  versioned: true,
};

/** The answer with the secret that the command disclosed, if it still does. */
const disclosing = <A extends { readonly body: Record<string, unknown> }>(answer: A, { disclosed }: Executed): A => ({
  ...answer,
  body: { ...answer.body, ...disclosed },
});

const createEndpoint = (path: string): Route =>
  defineRoute({
    method: 'POST',
    path,
    ...commandRoute('webhook_endpoint.create'),
    ...creating,
    answer: withSecret,
    body: commands['webhook_endpoint.create'].changes,
    run: async (call, deps) => {
      const { caller, body, idempotencyKey } = call;
      const type = 'webhook_endpoint.create';
      const executed = await deps.management.execute(caller, {
        type,
        changes: changesFrom(type, body),
        idempotencyKey,
      });
      return disclosing(await createdAnswer(executed, call, deps), executed);
    },
  });

const rotateSecret = (path: string): Route =>
  defineRoute({
    method: 'POST',
    path,
    ...commandRoute('webhook_endpoint.rotate_secret'),
    object: endpointIn,
    guarded: true,
    answer: withSecret,
    body: commands['webhook_endpoint.rotate_secret'].changes,
    run: async (call, deps) => {
      const type = 'webhook_endpoint.rotate_secret';
      const executed = await sendToObject(call, deps, type, changesFrom(type, call.body));
      return disclosing(await resourceAnswer(200, executed.resource, call, deps), executed);
    },
  });

const listDeliveries = (path: string): Route =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'webhookDeliveryList',
    summary: 'Lists what was sent to an endpoint in the last 30 days, and how it went, newest first.',
    object: endpointIn,
    query: listQuery.pick({ fields_filter: true, page: true, per_page: true }).extend({
      state: z
        .array(z.enum(webhookDeliveryStates))
        .optional()
        .meta({ description: 'Only deliveries in one of these states.' }),
    }),
    answer: { name: 'WebhookDelivery', schema: webhookDeliverySchema, list: true },
    run: ({ caller, object, query, url }, { management, baseUrl }) =>
      renderList(
        management.deliveries(caller, { workspaceId: object.workspace_id, endpointId: object.id }, query.state),
        (found) => found.map((delivery) => ({ ...delivery })),
        query,
        new URL(url, baseUrl).href,
      ),
  });

/** Webhook endpoints and their deliveries (docs/webhooks.md). */
export const webhooks = (path: string): readonly Route[] => [
  list(path, 'webhook_endpoints'),
  createEndpoint(path),
  read(`${path}/{id}`, 'webhook_endpoints'),
  change('PUT', `${path}/{id}`, 'webhook_endpoint.revise'),
  remove(`${path}/{id}`, 'webhook_endpoint.delete'),
  rotateSecret(`${path}/{id}/rotate_secret`),
  change('POST', `${path}/{id}/enable`, 'webhook_endpoint.enable'),
  change('POST', `${path}/{id}/disable`, 'webhook_endpoint.disable'),
  change('POST', `${path}/{id}/replay`, 'webhook_endpoint.replay'),
  change('POST', `${path}/{id}/test`, 'webhook_endpoint.send_test'),
  listDeliveries(`${path}/{id}/deliveries`),
];
