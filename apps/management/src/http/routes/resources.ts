import { productCatalog, type Attributes, type ResourceDefinition } from '@longwave/command-catalog';
import { definitionOf, entityTagOf, systemProcesses } from '@longwave/command-pipeline';
import { resourceViewSchema } from '@longwave/events';
import { ifNoneMatchNames } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import {
  checkListQuery,
  flag,
  hiddenBelow,
  listQuery,
  pageQuery,
  parentTypeOf,
  withFields,
  type ListQuery,
} from '../list-query.ts';
import { json, type ManagementRoute, type RouteAnswer } from '../management-route.ts';
import { isClosedReview } from '../../workspace/reviews/closed-review.ts';
import { reviewedSubject } from '../../workspace/reviews/reviewed-subject.ts';
import { shownTo } from '../../workspace/access/shown-to.ts';

const reviewTasks = productCatalog.resources.review_tasks.type;

const page = z.strictObject({
  rows: z.array(resourceViewSchema),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
  total: z
    .strictObject({
      count: z.int(),
      exact: z.boolean().describe('false: there are more, or could be. Counting has a bound.'),
    })
    .optional()
    .describe('The number of rows in all pages; absent unless asked for.'),
});

const patch = z.array(
  z.strictObject({
    op: z.enum(['add', 'remove', 'replace']),
    path: z.string(),
    value: z.unknown().optional().describe('Absent of `remove`.'),
  }),
);

const versionSchema = z.strictObject({
  version: z.int(),
  lifecycle_state: z.string(),
  attributes: z.record(z.string(), z.unknown()),
  digest: z.string(),
  updated_by: z.strictObject({
    operation_id: z.string(),
    service: z.string().optional().describe('The service that sent the command; absent when a person did.'),
    process: z
      .enum(systemProcesses)
      .optional()
      .describe('The clock or the follower of events, where one of these sent it by itself.'),
  }),
  created_at: z.iso.datetime(),
  difference: patch
    .optional()
    .describe(
      'JSON Patch (RFC 6902) over `{lifecycle_state, attributes}`, from the version before; absent unless asked for, and of the first version.',
    ),
});

const versions = z.strictObject({
  rows: z.array(versionSchema).describe('Newest first.'),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

const difference = flag.describe('Whether each version says what it changed.');
const versionsQuery = z.strictObject({ ...pageQuery, difference });
const versionQuery = z.strictObject({ difference });

const tagHeaders = { ETag: 'Strong entity-tag of the version: `"<version>.<first 16 digits of its digest>"`.' };
const conditional = {
  'If-None-Match': { description: 'The tag of a version that the client has: then 304 while it is current.' },
};

/** The answer with this tag, or 304 when the client has it. */
const tagged = (ifNoneMatch: string | undefined, etag: string, body: unknown): RouteAnswer =>
  ifNoneMatchNames(ifNoneMatch, etag)
    ? { status: 304, headers: { ETag: etag } }
    : json(body, { headers: { ETag: etag } });

/** The links by which a list of children finds its place. */
const placeOf = (definition: ResourceDefinition, parent: string | undefined): Record<string, string> => {
  const type = parent === undefined ? undefined : parentTypeOf(definition, parent);
  if (type === 'podcasts') return { podcast: parent! };
  return type === 'episodes' ? { episode: parent! } : {};
};

/** Throws `unknown_resource_type`. */
const checkPath: NonNullable<ManagementRoute['checkPath']> = (parameter) =>
  void definitionOf(productCatalog, parameter('resource_type'));

const list: ManagementRoute = {
  operation: 'resource.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/{resource_type}',
  summary: 'The resources of a type.',
  note: 'Workspace, type, filter and sort stay the same from page to page. Sorted by a stable key, nothing that exists is skipped or repeated while others write.',
  scope: 'management:read',
  query: listQuery,
  answers: { 200: { description: 'A page of resources.', body: { name: 'ResourcePage', schema: page } } },
  refusals: ['unknown_resource_type', 'invalid_cursor', 'timeout'],
  checkPath,
  answer: async ({ actor, workspaceId, parameter, query }, { access, reader }) => {
    const definition = definitionOf(productCatalog, parameter('resource_type'));
    const shown = shownTo(actor);
    const asked = query as ListQuery;
    checkListQuery(definition, asked);
    const { limit, cursor, sort, state, parent, ids, updated_since: updatedSince, text, fields, count } = asked;
    const filter = {
      scopes: await access.scopes(actor, workspaceId, definition.type, placeOf(definition, parent)),
      resourceType: definition.type,
      hiddenBelow,
      ...(state !== undefined && { lifecycleStates: state }),
      ...(parent !== undefined && { parentId: parent }),
      ...(ids !== undefined && { ids }),
      ...(updatedSince !== undefined && { updatedSince }),
      ...(text !== undefined && { titleContains: text }),
    };
    const [{ resources, nextCursor }, total] = await Promise.all([
      reader.listResources({ ...filter, sort, limit, ...(cursor !== undefined && { cursor }) }),
      count ? reader.countResources(filter) : undefined,
    ]);
    return json({
      rows: resources.map((row) => withFields(shown.resource(row), fields)),
      limit,
      ...(nextCursor !== undefined && { next_cursor: nextCursor }),
      ...(total && { total }),
    });
  },
};

const read: ManagementRoute = {
  operation: 'resource.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/{resource_type}/{resource_id}',
  summary: 'The current revision and the lifecycle state of a resource.',
  forParties: true,
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
  checkPath,
  answer: async ({ request, actor, workspaceId, parameter }, { access }) => {
    const [type, id] = [parameter('resource_type'), parameter('resource_id')];
    const { resource } = await access.getVisible(actor, workspaceId, type, id);
    return tagged(request.get('if-none-match'), entityTagOf(resource), shownTo(actor).resource(resource));
  },
};

const listVersions: ManagementRoute = {
  operation: 'resource.versions',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/{resource_type}/{resource_id}/versions',
  summary: 'The immutable history of a resource, newest version first.',
  scope: 'management:read',
  query: versionsQuery,
  answers: { 200: { description: 'A page of versions.', body: { name: 'ResourceVersions', schema: versions } } },
  refusals: ['unknown_resource_type', 'not_found', 'invalid_cursor', 'timeout'],
  checkPath,
  answer: async ({ actor, workspaceId, parameter, query }, { access, reader }) => {
    const [resourceType, id] = [parameter('resource_type'), parameter('resource_id')];
    const { limit, cursor, difference: withDifference } = query as z.output<typeof versionsQuery>;
    await access.getVisible(actor, workspaceId, resourceType, id);
    const { versions: found, nextCursor } = await reader.listVersions(
      { workspaceId, resourceType, id },
      { limit, withDifference, ...(cursor !== undefined && { cursor }) },
    );
    const rows = found.map((version) => shownTo(actor).version(workspaceId, resourceType, version));
    return json({ rows, limit, ...(nextCursor !== undefined && { next_cursor: nextCursor }) });
  },
};

const readVersion: ManagementRoute = {
  operation: 'resource.version',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/{resource_type}/{resource_id}/versions/{version}',
  summary: 'One version of a resource.',
  scope: 'management:read',
  query: versionQuery,
  answers: { 200: { description: 'The version.', body: { name: 'ResourceVersion', schema: versionSchema } } },
  refusals: ['unknown_resource_type', 'not_found'],
  checkPath,
  answer: async ({ actor, workspaceId, parameter, query }, { access, reader }) => {
    const [resourceType, id, version] = [parameter('resource_type'), parameter('resource_id'), parameter('version')];
    const { difference: withDifference } = query as z.output<typeof versionQuery>;
    const { resource } = await access.getVisible(actor, workspaceId, resourceType, id);
    if (!/^[1-9]\d{0,9}$/.test(version) || Number(version) > resource.version)
      throw new Problem('not_found', `There is no version ${version.slice(0, 16)} of ${id}.`);
    const found = await reader.readVersion({ workspaceId, resourceType, id }, Number(version), { withDifference });
    return json(shownTo(actor).version(workspaceId, resourceType, found));
  },
};

const preview = z.strictObject({
  subject: z.strictObject({
    ...{ type: z.string(), id: z.string(), version: z.int() },
    lifecycle_state: z
      .string()
      .optional()
      .describe(
        'Like `attributes`, absent when the command creates the subject, and for who neither sees it nor decides.',
      ),
    attributes: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Without `storage_key` and `sha256` of files for a reviewer who does not see the subject by itself.'),
    advertiser_name: z.string().optional().describe('The legal name of the advertiser that `attributes` names.'),
  }),
  difference: patch.describe('JSON Patch (RFC 6902) over `{lifecycle_state, attributes}` of the subject.'),
});

const readProposal: ManagementRoute = {
  operation: 'review.difference',
  method: 'GET',
  path: '/workspaces/{workspace_id}/resources/review_tasks/{review_task_id}/difference',
  summary: 'The subject of a review, and what its command would change if it were approved now.',
  note: 'A command that would be refused now answers with its problem.',
  scope: 'management:read',
  answers: { 200: { description: 'The proposed change.', body: { name: 'ReviewDifference', schema: preview } } },
  refusals: [
    'not_found',
    'state_not_allowed',
    'version_conflict',
    'policy_rejected',
    'idempotency_in_progress',
    'timeout',
  ],
  answer: async ({ actor, workspaceId, parameter }, { access, reader, previewReview }) => {
    const id = parameter('review_task_id');
    const review = await access.getVisible(actor, workspaceId, reviewTasks, id);
    const attributes = review.resource.attributes as Attributes<'review_tasks'>;
    // Decided before the command is tried, whose refusal would say what it is about.
    if (isClosedReview(actor, workspaceId, { type: reviewTasks, attributes }))
      return json({ subject: attributes.subject, difference: [] });
    const { task, present, difference: steps } = await previewReview(workspaceId, id);
    const { subject } = task;
    const content = present && (await reviewedSubject({ access, reader }, actor, { ...review, task }, present));
    return json({
      subject: { ...subject, ...content },
      difference: shownTo(actor).difference(workspaceId, subject.type, steps),
    });
  },
};

/** Reads of resources. */
export const resourceRoutes: readonly ManagementRoute[] = [list, read, listVersions, readVersion, readProposal];
