import type { Catalog, ResourceDefinition } from '@longwave/command-catalog';
import type { ListSort, ResourceView } from '@longwave/events';
import { jcsDigest } from '@longwave/idempotency';
import type { Pool } from '@longwave/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import { nextAction, operationConsequences, type OperationState, type OperationView } from '../store/operation.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { PrismaClient } from '../generated/prisma/client.ts';
import { definitionOf, notFoundProblem, resourceView, type ResourceRow } from '../store/resource-row.ts';

/** A whole workspace, or the resources that belong to some of its podcasts. */
export interface Scope {
  readonly workspaceId: string;
  readonly podcastIds?: readonly string[];
}

interface ListQuery {
  /** An empty list finds nothing. */
  readonly scopes: readonly Scope[] | 'everywhere';
  readonly resourceType: string;
  /** Link name → linked id. */
  readonly links?: Readonly<Record<string, string>>;
  readonly lifecycleStates?: readonly string[];
  /** Only those whose present version is of this time or later. */
  readonly updatedSince?: Date;
  /** Only those whose title contains this text, in letters of either case. */
  readonly titleContains?: string;
  /** Default: created_at. */
  readonly sort?: ListSort;
  /** Default 50, at most 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ResourceReader extends AsyncDisposable {
  /** Throws `not_found` for an unknown id and for one of another workspace alike; without a workspace it searches all. */
  getResource(workspaceId: string | undefined, resourceType: string, id: string): Promise<ResourceView>;
  /** By the declared sort key, then by id: an order that is stable while nothing changes. */
  listResources(
    query: ListQuery,
  ): Promise<{ readonly resources: ResourceView[]; readonly nextCursor: string | undefined }>;
  /** Every revision, newest first. */
  listVersions(workspaceId: string, resourceType: string, id: string): Promise<Record<string, unknown>[]>;
  /** Without a workspace it searches all. */
  getOperation(workspaceId: string | undefined, id: string): Promise<OperationView>;
  /** The signed statement as compact JWS. */
  getReceipt(
    workspaceId: string,
    id: string,
  ): Promise<{ readonly id: string; readonly operationId: string; readonly jws: string }>;
}

interface StoredResource {
  id: string;
  workspaceId: string;
  resourceType: string;
  version: number;
  lifecycleState: string;
  attributes: unknown;
  digest: string;
  operationId: string;
  createdAt: Date;
  updatedAt: Date;
}

const toRow = (stored: StoredResource): ResourceRow => ({
  id: stored.id,
  workspace_id: stored.workspaceId,
  resource_type: stored.resourceType,
  version: stored.version,
  lifecycle_state: stored.lifecycleState,
  attributes: stored.attributes as Record<string, unknown>,
  digest: stored.digest,
  operation_id: stored.operationId,
  created_at: stored.createdAt,
  updated_at: stored.updatedAt,
});

/** Reads of the versioned store, through Prisma on the owner's pool. */
export function createResourceReader(options: {
  readonly pool: Pool;
  readonly schema: string;
  readonly catalog: Catalog;
  /** 32 bytes; seals cursors. */
  readonly cursorKey: Buffer;
  readonly clock: () => Date;
}): ResourceReader {
  const { catalog, cursorKey, clock } = options;
  const prisma = new PrismaClient({ adapter: new PrismaPg(options.pool, { schema: options.schema }) });

  /** The condition for the resources of a type in a scope; those that belong to no podcast are in whole workspaces only. */
  async function scopeFilter({ type, links }: ResourceDefinition, { workspaceId, podcastIds }: Scope) {
    if (podcastIds === undefined) return { workspaceId };
    const podcasts = { in: [...podcastIds] };
    if (type === 'podcasts') return { workspaceId, id: podcasts };
    const linkTo = (parent: string) => Object.entries(links).find(([, link]) => link.type === parent)?.[0];
    const [toPodcast, toEpisode] = [linkTo('podcasts'), linkTo('episodes')];
    if (toPodcast !== undefined) return { workspaceId, links: { some: { name: toPodcast, toId: podcasts } } };
    if (toEpisode === undefined) return { id: { in: [] } };
    const episodes = await prisma.link.findMany({
      where: { name: 'podcast', toId: podcasts, from: { resourceType: 'episodes' } },
      select: { fromId: true },
    });
    return { workspaceId, links: { some: { name: toEpisode, toId: { in: episodes.map(({ fromId }) => fromId) } } } };
  }

  return {
    async getResource(workspaceId, resourceType, id) {
      const definition = definitionOf(catalog, resourceType);
      const where = { id, resourceType, ...(workspaceId !== undefined && { workspaceId }) };
      const stored = await prisma.resource.findFirst({ where });
      if (!stored) throw notFoundProblem(definition, id);
      return resourceView(definition, toRow(stored));
    },

    async listResources(query) {
      const { scopes, resourceType, links = {}, lifecycleStates = [], limit = 50, cursor } = query;
      const { updatedSince, titleContains, sort = 'created_at' } = query;
      const definition = definitionOf(catalog, resourceType);
      // An empty OR is no condition to Prisma.
      if (scopes.length === 0) return { resources: [], nextCursor: undefined };
      const take = Math.min(Math.max(limit, 1), 200);
      const listing = jcsDigest({
        // The name by which cursors that are in use know it.
        ...{ places: scopes, resourceType, links, lifecycleStates: [...lifecycleStates], sort },
        updatedSince: updatedSince?.toISOString() ?? null,
        titleContains: titleContains ?? null,
      });
      const sortField = sort.endsWith('created_at') ? 'createdAt' : 'updatedAt';
      const [direction, beyond] = sort.startsWith('-') ? (['desc', 'lt'] as const) : (['asc', 'gt'] as const);
      const after = cursor ? openCursor(cursorKey, listing, cursor, clock()) : undefined;
      const found = await prisma.resource.findMany({
        where: {
          resourceType,
          ...(lifecycleStates.length > 0 && { lifecycleState: { in: [...lifecycleStates] } }),
          AND: [
            ...(scopes === 'everywhere'
              ? []
              : [{ OR: await Promise.all(scopes.map((scope) => scopeFilter(definition, scope))) }]),
            ...Object.entries(links).map(([name, toId]) => ({ links: { some: { name, toId } } })),
          ],
          ...(updatedSince && { updatedAt: { gte: updatedSince } }),
          ...(titleContains && {
            attributes: { path: ['title'], string_contains: titleContains, mode: 'insensitive' },
          }),
          ...(after && {
            OR: [
              { [sortField]: { [beyond]: after.sortedAt } },
              { [sortField]: after.sortedAt, id: { [beyond]: after.id } },
            ],
          }),
        },
        orderBy: [{ [sortField]: direction }, { id: direction }],
        take: take + 1,
      });
      const page = found.slice(0, take);
      const last = page.at(-1);
      const more = found.length > take && last !== undefined;
      return {
        resources: page.map((stored) => resourceView(definition, toRow(stored))),
        nextCursor: more
          ? sealCursor(cursorKey, listing, { sortedAt: last[sortField].toISOString(), id: last.id }, clock())
          : undefined,
      };
    },

    async listVersions(workspaceId, resourceType, id) {
      const definition = definitionOf(catalog, resourceType);
      const revisions = await prisma.revision.findMany({
        where: { resourceId: id, resource: { workspaceId, resourceType } },
        orderBy: { version: 'desc' },
      });
      if (revisions.length === 0) throw notFoundProblem(definition, id);
      return revisions.map((revision) => ({
        version: revision.version,
        lifecycle_state: revision.lifecycleState,
        attributes: revision.attributes,
        digest: revision.digest,
        operation_id: revision.operationId,
        created_at: revision.createdAt.toISOString(),
      }));
    },

    async getOperation(workspaceId, id) {
      const where = { id, ...(workspaceId !== undefined && { workspaceId }) };
      const stored = await prisma.operation.findFirst({ where });
      if (!stored) throw notFoundProblem({ noun: 'operation' }, id);
      const state = stored.state as OperationState;
      return {
        id: stored.id,
        workspace_id: stored.workspaceId,
        command_type: stored.commandType,
        state,
        subject: { type: stored.subjectType, id: stored.subjectId, version: stored.subjectVersion },
        ...(stored.consequences !== null && { consequences: operationConsequences.parse(stored.consequences) }),
        receipt_id: stored.receiptId,
        ...(stored.reviewTaskId !== null && { review_task_id: stored.reviewTaskId }),
        ...(stored.problem !== null && { problem: stored.problem as { code: string; detail: string } }),
        next_safe_action: nextAction[state],
        created_at: stored.createdAt.toISOString(),
        updated_at: stored.updatedAt.toISOString(),
      };
    },

    async getReceipt(workspaceId, id) {
      const stored = await prisma.receipt.findFirst({ where: { id, workspaceId } });
      if (!stored) throw notFoundProblem({ noun: 'receipt' }, id);
      return { id: stored.id, operationId: stored.operationId, jws: stored.jws };
    },

    [Symbol.asyncDispose]: () => prisma.$disconnect(),
  };
}
