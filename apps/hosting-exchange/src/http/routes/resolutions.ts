import { deliveryAliasBody, routes } from '@longwave/exchange-messages';
import { parseOrProblem } from '@longwave/problems';
import { z } from 'zod';
import { foreignIdentity } from '../../messages/judge-batch.ts';
import { readRouteFacts } from '../../projection/resource-tables.ts';
import { chooseRoute, reasonCodes } from '../../resolutions/choose-route.ts';
import { json, type ExchangeRoute } from '../exchange-route.ts';
import { once } from '../once.ts';

const question = z
  .strictObject({
    alias: deliveryAliasBody.shape.alias.optional(),
    source: z.strictObject({ source_id: deliveryAliasBody.shape.target.shape.source_id }).optional(),
    surface_id: deliveryAliasBody.shape.route_policy.shape.surface_id,
    route: z.enum(routes).optional().describe('Absent: the route of the alias.'),
  })
  .refine(({ alias, source }) => (alias === undefined) !== (source === undefined), {
    error: 'Name an alias or a source, and not both.',
  });

const resolution = z.strictObject({
  route: z.enum(routes),
  url: z.string().nullable().describe('Null: nothing may be delivered.'),
  expires_at: z.string().describe('Ask again after this time.'),
  alias_version: z.int().nullable(),
  content_version: z.int().nullable().describe('The source version that serves.'),
  reason_code: z.enum(reasonCodes),
});

const resolve: ExchangeRoute = {
  operation: 'delivery_resolution.create',
  method: 'POST',
  path: '/workspaces/{workspace_id}/delivery-resolutions',
  summary: 'Ask which address a surface gets for an alias or a source.',
  note: 'The answer follows the route policy of the alias and what the surface can do.',
  scope: 'exchange:write',
  body: question,
  answers: { 200: ['The route.', resolution] },
  refusals: [400, 409, 413, 415, 422],
  answer: async (call, deps) => {
    const asked = parseOrProblem(question, call.body);
    return once('delivery_resolution', call, deps, '', async () => {
      const { alias, source, surface_id: surfaceId, route } = asked;
      const facts = await readRouteFacts(deps.pool, call.client.authorityId, {
        alias,
        sourceId: source?.source_id,
        surfaceId,
      });
      // Ids of others and ids that do not exist are answered alike.
      if (alias !== undefined && !facts.alias) throw foreignIdentity('/alias');
      if (source !== undefined && !facts.newest) throw foreignIdentity('/source/source_id');
      if (!facts.surface) throw foreignIdentity('/surface_id');
      const chosen = chooseRoute(facts, route, { mediaUrl: deps.mediaUrl, now: deps.clock() });
      return json(200, {
        route: chosen.route,
        url: chosen.url,
        expires_at: chosen.expiresAt.toISOString(),
        alias_version: chosen.aliasVersion,
        content_version: chosen.contentVersion,
        reason_code: chosen.reasonCode,
      } satisfies z.input<typeof resolution>);
    });
  },
};

export const resolutionRoutes: readonly ExchangeRoute[] = [resolve];
