import { typedResource } from '@longwave/command-catalog';
import { decideAccess } from '@longwave/principal';
import { z } from 'zod';
import { json, type ManagementRoute, type RouteCall, type RouteDeps } from '../management-route.ts';

const listQuery = z.strictObject({
  cursor: z.string().min(1).max(4_000).optional().describe('`next_cursor` of the page before, unchanged.'),
});

/** A workspace as lists show it. */
export const workspaceRow = z.strictObject({
  id: z.string(),
  name: z.string(),
  lifecycle_state: z.string(),
  currency: z.string().describe('ISO 4217.'),
  time_zone: z.string().describe('IANA name.'),
  roles: z.array(z.string()).describe('Yours in the whole workspace; none where you see single podcasts only.'),
});

const page = z.strictObject({
  rows: z.array(workspaceRow),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

/** The workspaces in which a person sees anything, oldest first: at most 200, after the cursor of the page before. */
export async function listWorkspaces(
  actor: RouteCall['actor'],
  { access, reader }: Pick<RouteDeps, 'access' | 'reader'>,
  cursor?: string,
): Promise<z.output<typeof page>> {
  const scopes = await access.scopes(actor, undefined, 'workspaces');
  const { resources, nextCursor } = await reader.listResources({
    // Whoever sees a podcast may know the name of its workspace.
    scopes: scopes.map(({ workspaceId }) => ({ workspaceId })),
    resourceType: 'workspaces',
    limit: 200,
    ...(cursor !== undefined && { cursor }),
  });
  const rows = resources.map((resource) => {
    const { id, lifecycle_state, attributes } = typedResource(resource, 'workspaces');
    const { name, currency, time_zone } = attributes;
    const { roles } = decideAccess(actor.principal, { workspaceId: id, podcastId: undefined });
    return { id, name, lifecycle_state, currency, time_zone, roles: [...roles] };
  });
  return { rows, ...(nextCursor !== undefined && { next_cursor: nextCursor }) };
}

const list: ManagementRoute = {
  operation: 'workspace.list',
  method: 'GET',
  path: '/workspaces',
  summary: 'The workspaces in which you see anything, oldest first.',
  scope: 'management:read',
  query: listQuery,
  answers: { 200: { description: 'A page of workspaces.', body: { name: 'WorkspacePage', schema: page } } },
  refusals: ['invalid_cursor'],
  answer: async ({ actor, query }, deps) =>
    json(await listWorkspaces(actor, deps, (query as z.output<typeof listQuery>).cursor)),
};

/** Where a client begins: every other path names a workspace. */
export const workspaceRoutes: readonly ManagementRoute[] = [list];
