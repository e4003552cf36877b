import { servingIntents } from '@longwave/command-catalog';
import { parseOrProblem } from '@longwave/problems';
import { z } from 'zod';
import { acknowledge } from '../../intents/acknowledge.ts';
import { listAcknowledgements, listIntents, type IntentRow } from '../../intents/intent-table.ts';
import { json, type ExchangeRoute } from '../exchange-route.ts';
import { once } from '../once.ts';

const fields = servingIntents.attributes.shape;
const statuses = z.enum(['applied', 'rejected', 'superseded']);

const acknowledgementView = z.strictObject({
  by: z.string().describe('The client, or the name of our own service.'),
  intent_version: z.int(),
  status: statuses,
  applied_at: z.string(),
  detail_code: z.string().optional(),
});

const intent = z.strictObject({
  intent_id: z.string(),
  version: z.int(),
  plan_digest: fields.plan_digest,
  actions: fields.actions,
  effective_at: fields.effective_at,
  supersedes: fields.supersedes,
  acknowledgements: z.array(acknowledgementView),
  overdue: z.boolean().describe('The newest version, and its platform has not acknowledged it for too long.'),
});

const query = z.strictObject({
  after_version: z.coerce.number().int().min(0).max(2_147_483_647).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const readIntents: ExchangeRoute = {
  operation: 'serving_intent.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/serving-intents',
  summary: 'What should serve at the addresses of the platform: the versions after one that it knows.',
  note: 'Each version is the whole; only the newest counts.',
  scope: 'exchange:read',
  query,
  answers: {
    200: [
      'The versions, in their order.',
      z.strictObject({ intents: z.array(intent), next_after_version: z.int().nullable() }),
    ],
  },
  refusals: [422],
  answer: async ({ client, query: sent }, { pool, clock, overdueMs }) => {
    const { after_version: after, limit } = parseOrProblem(query, sent, '/query');
    const { intents: page, hasMore } = await listIntents(pool, client.authorityId, after, limit);
    const versions = page.map(({ version }) => version);
    const acknowledgements = page[0] ? await listAcknowledgements(pool, page[0].id, versions) : [];
    const isOverdue = (row: IntentRow, index: number) =>
      !hasMore &&
      index === page.length - 1 &&
      row.published_at.getTime() < clock().getTime() - overdueMs &&
      !acknowledgements.some((one) => one.intent_version === row.version && one.acknowledged_by === client.clientId);
    return json(200, {
      intents: page.map((row, index) => ({
        intent_id: row.id,
        version: row.version,
        plan_digest: row.attributes.plan_digest,
        actions: row.attributes.actions,
        effective_at: row.attributes.effective_at,
        supersedes: row.attributes.supersedes,
        acknowledgements: acknowledgements
          .filter((one) => one.intent_version === row.version)
          .map((one) => ({
            by: one.acknowledged_by,
            intent_version: one.intent_version,
            status: one.status,
            applied_at: one.applied_at.toISOString(),
            ...(one.detail_code !== null && { detail_code: one.detail_code }),
          })),
        overdue: isOverdue(row, index),
      })),
      next_after_version: hasMore ? page.at(-1)!.version : null,
    });
  },
};

const said = z.strictObject({
  intent_version: z.int().min(1).max(2_147_483_647),
  plan_digest: z.string().max(200).nullable().describe('That of the intent, so that both sides mean the same.'),
  applied_at: z.iso.datetime({ offset: true }),
  status: statuses,
  detail_code: z
    .string()
    .regex(/^[a-z0-9_]{1,64}$/)
    .optional()
    .describe('Why, where it was not applied.'),
});

const acknowledged = z.strictObject({
  intent_id: z.string(),
  intent_version: z.int(),
  by: z.string(),
  status: statuses,
});

const acknowledgeIntent: ExchangeRoute = {
  operation: 'serving_intent.acknowledge',
  method: 'POST',
  path: '/workspaces/{workspace_id}/serving-intents/{intent_id}/acknowledgements',
  summary: 'Say what the platform has done with a version of its intent. The first word counts.',
  scope: 'exchange:write',
  body: said,
  answers: {
    201: ['Recorded.', acknowledged],
    200: ['This platform has acknowledged the version before.', acknowledged],
  },
  refusals: [400, 404, 409, 413, 415, 422],
  answer: async (call, deps) => {
    const { client, parameter } = call;
    const body = parseOrProblem(said, call.body);
    const intentId = parameter('intent_id');
    return once('acknowledgement', call, deps, intentId, async () => {
      const isNew = await acknowledge(
        deps.pool,
        {
          workspaceId: client.workspaceId,
          intentId,
          intentVersion: body.intent_version,
          acknowledgedBy: client.clientId,
          status: body.status,
          detailCode: body.detail_code,
          planDigest: body.plan_digest,
          appliedAt: new Date(body.applied_at),
        },
        client.authorityId,
        deps.clock(),
      );
      const kept = await listAcknowledgements(deps.pool, intentId, [body.intent_version]);
      const first = kept.find((one) => one.acknowledged_by === client.clientId);
      const answer = { intent_id: intentId, intent_version: body.intent_version, by: client.clientId };
      return json(isNew ? 201 : 200, { ...answer, status: first?.status ?? body.status });
    });
  },
};

export const intentRoutes: readonly ExchangeRoute[] = [readIntents, acknowledgeIntent];
