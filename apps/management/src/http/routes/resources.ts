import { productCatalog } from '@longwave/command-catalog';
import { definitionOf, entityTagOf } from '@longwave/command-pipeline';
import { resourceViewSchema } from '@longwave/events';
import { ifNoneMatchNames } from '@longwave/http-kit';
import { z } from 'zod';
import { json, type ManagementRoute, type RouteAnswer } from '../management-route.ts';

const maxLimit = 200;

const listQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, 'Send a number from 1.')
    .transform((text) => Math.min(Number(text), maxLimit))
    .optional()
    .describe('Rows of a page: 50 when absent, and at most 200, which a larger number is cut to.'),
  cursor: z.string().min(1).max(4_000).optional().describe('`next_cursor` of the page before, unchanged.'),
});

const page = z.strictObject({
  rows: z.array(resourceViewSchema),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

const versions = z.strictObject({
  rows: z
    .array(
      z.strictObject({
        version: z.int(),
        lifecycle_state: z.string(),
        attributes: z.record(z.string(), z.unknown()),
        digest: z.string(),
        operation_id: z.string(),
        created_at: z.iso.datetime(),
      }),
    )
    .describe('Newest first.'),
});

const tagHeaders = { ETag: 'Strong entity-tag of the version: `"<version>.<first 16 digits of its digest>"`.' };
const conditional = {
  'If-None-Match': { description: 'The tag of a version that the client has: then 304 while it is current.' },
};

/** The answer with this tag, or 304 when the client has it. */
const tagged = (ifNoneMatch: string | undefined, etag: string, body: unknown): RouteAnswer =>
  ifNoneMatchNames(ifNoneMatch, etag)
    ? { status: 304, headers: { ETag: etag } }
    : json(body, { headers: { ETag: etag } });

const list: ManagementRoute = {
  operation: 'resource.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/{resource_type}',
  summary: 'The resources of a type, oldest first.',
  scope: 'management:read',
  query: listQuery,
  answers: { 200: { description: 'A page of resources.', body: { name: 'ResourcePage', schema: page } } },
  refusals: ['unknown_resource_type', 'invalid_cursor'],
  answer: async ({ actor, workspaceId, parameter, query }, { access, reader }) => {
    const { limit = 50, cursor } = query as z.output<typeof listQuery>;
    const resourceType = definitionOf(productCatalog, parameter('resource_type')).type;
    const scopes = await access.scopes(actor, workspaceId, {});
    const { resources, nextCursor } = await reader.listResources({
      scopes,
      resourceType,
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    return json({ rows: resources, limit, ...(nextCursor !== undefined && { next_cursor: nextCursor }) });
  },
};

const read: ManagementRoute = {
  operation: 'resource.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/{resource_type}/{resource_id}',
  summary: 'The current revision and the lifecycle state of a resource.',
  scope: 'management:read',
  headers: conditional,
  answers: {
    200: {
      description: 'The resource.',
      body: { name: 'Resource', schema: resourceViewSchema },
      headers: tagHeaders,
    },
    304: { description: 'It is still this version.', headers: tagHeaders },
  },
  refusals: ['unknown_resource_type', 'not_found'],
  answer: async ({ request, actor, workspaceId, parameter }, { access }) => {
    const [type, id] = [parameter('resource_type'), parameter('resource_id')];
    const { resource } = await access.getVisible(actor, workspaceId, type, id);
    return tagged(request.get('if-none-match'), entityTagOf(resource), resource);
  },
};

const readVersions: ManagementRoute = {
  operation: 'resource.versions',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/{resource_type}/{resource_id}/versions',
  summary: 'The immutable history of a resource.',
  scope: 'management:read',
  headers: conditional,
  answers: {
    200: {
      description: 'Every version.',
      body: { name: 'ResourceVersions', schema: versions },
      headers: tagHeaders,
    },
    304: { description: 'There is no newer version.', headers: tagHeaders },
  },
  refusals: ['unknown_resource_type', 'not_found'],
  answer: async ({ request, actor, workspaceId, parameter }, { access, reader }) => {
    const [type, id] = [parameter('resource_type'), parameter('resource_id')];
    const { resource } = await access.getVisible(actor, workspaceId, type, id);
    const rows = await reader.listVersions(workspaceId, type, id);
    return tagged(request.get('if-none-match'), entityTagOf(resource), { rows });
  },
};

/** Reads of resources. */
export const resourceRoutes: readonly ManagementRoute[] = [list, read, readVersions];
