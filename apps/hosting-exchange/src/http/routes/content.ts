import { contentSnapshots, deliveryAliases, surfaceCapabilities } from '@longwave/command-catalog';
import { parseOrProblem } from '@longwave/problems';
import { z } from 'zod';
import { listHistory, type HistoryRow } from '../../messages/message-table.ts';
import { findAlias, findSnapshot, findSurface } from '../../projection/resource-tables.ts';
import { json, notFound, type ExchangeRoute } from '../exchange-route.ts';

const mapped = contentSnapshots.attributes.shape;

const snapshot = z.strictObject({
  source_id: z.string(),
  source_version: z.int(),
  state: z.enum(contentSnapshots.states).describe('`ready`: it serves.'),
  problem: mapped.problem.describe('Why it failed.'),
  resource_id: z.string(),
  podcast_id: mapped.podcast_id,
  episode_id: mapped.episode_id,
  production_id: mapped.production_id,
  rendition: mapped.rendition,
  slots: mapped.slots,
  notes: mapped.notes.describe('What could not be taken over, such as captions that cannot be read.'),
  message_digest: z.string(),
  stream_id: z.string(),
  sequence: z.int(),
});

const snapshotQuery = z.strictObject({
  version: z.coerce.number().int().min(1).optional().describe('The source version; absent: the newest.'),
});

const readSnapshot: ExchangeRoute = {
  operation: 'content_snapshot.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/content-snapshots/{source_id}',
  summary: 'What a version of a source became: its state, and its podcast, episode, audio and ad slots here.',
  scope: 'exchange:read',
  query: snapshotQuery,
  answers: { 200: ['The mapping.', snapshot] },
  refusals: [404, 422],
  answer: async ({ client, parameter, query }, { pool }) => {
    const { version } = parseOrProblem(snapshotQuery, query, '/query');
    const found = await findSnapshot(pool, client.authorityId, parameter('source_id'), version);
    if (!found) throw notFound('content snapshot');
    const { attributes } = found;
    const { podcast_id, episode_id, production_id, rendition, slots, notes, problem } = attributes;
    return json(200, {
      source_id: attributes.source_id,
      source_version: found.source_version,
      state: found.state,
      resource_id: found.id,
      ...{ podcast_id, episode_id, production_id, rendition, slots, notes, problem },
      message_digest: attributes.message_digest,
      stream_id: attributes.stream_id,
      sequence: attributes.sequence,
    });
  },
};

const historyEntry = z.strictObject({
  source_version: z.int(),
  message_digest: z.string(),
  stream_id: z.string(),
  sequence: z.int(),
  receipt_id: z.string(),
  accepted_at: z.string(),
});

const historyView = (stored: HistoryRow): z.input<typeof historyEntry> => ({
  source_version: stored.source_version,
  message_digest: stored.digest,
  stream_id: stored.stream_id,
  sequence: stored.sequence,
  receipt_id: stored.receipt_id,
  accepted_at: stored.accepted_at.toISOString(),
});

/** The newest messages that a history shows. */
const maxHistory = 100;

const readCapability: ExchangeRoute = {
  operation: 'surface_capability.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/surface-capabilities/{surface_id}',
  summary: 'What a surface can do now, and the messages that said so.',
  scope: 'exchange:read',
  answers: {
    200: [
      'The surface.',
      z.strictObject({
        surface_id: z.string(),
        resource_id: z.string(),
        state: z.enum(surfaceCapabilities.states),
        source_version: z.int(),
        capability: surfaceCapabilities.attributes.shape.capability,
        history: z.array(historyEntry).describe(`The newest ${maxHistory}, the latest first.`),
      }),
    ],
  },
  refusals: [404],
  answer: async ({ client, parameter }, { pool }) => {
    const surfaceId = parameter('surface_id');
    const found = await findSurface(pool, client.authorityId, surfaceId);
    if (!found) throw notFound('surface');
    const history = await listHistory(pool, client.authorityId, 'surface', surfaceId, maxHistory);
    return json(200, {
      surface_id: surfaceId,
      resource_id: found.id,
      state: found.state,
      source_version: found.attributes.source_version,
      capability: found.attributes.capability,
      history: history.map(historyView),
    });
  },
};

const aliasFields = deliveryAliases.attributes.shape;

const readAlias: ExchangeRoute = {
  operation: 'delivery_alias.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/delivery-aliases/{alias_id}',
  summary: 'An address: its target and route now, and the messages that said so.',
  scope: 'exchange:read',
  answers: {
    200: [
      'The alias.',
      z.strictObject({
        alias: z.string(),
        resource_id: z.string(),
        state: z.enum(deliveryAliases.states),
        source_version: z.int(),
        url: z.string().describe('The public address; it never changes.'),
        target: aliasFields.target,
        route_policy: aliasFields.route_policy,
        history: z.array(historyEntry).describe(`The newest ${maxHistory}, the latest first.`),
      }),
    ],
  },
  refusals: [404],
  answer: async ({ client, parameter }, { pool, mediaUrl }) => {
    const alias = parameter('alias_id');
    const found = await findAlias(pool, client.authorityId, alias);
    if (!found) throw notFound('alias');
    const { host, path_slug: slug, target, route_policy, source_version } = found.attributes;
    const history = await listHistory(pool, client.authorityId, 'alias', alias, maxHistory);
    return json(200, {
      alias,
      resource_id: found.id,
      state: found.state,
      source_version,
      url: `${mediaUrl}/delivery/v1/x/${host}/${slug}.mp3`,
      ...{ target, route_policy },
      history: history.map(historyView),
    });
  },
};

export const contentRoutes: readonly ExchangeRoute[] = [readSnapshot, readCapability, readAlias];
