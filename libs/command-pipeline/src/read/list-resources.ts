import type { Catalog, ResourceDefinition } from '@longwave/command-catalog';
import type { ListSort, ResourceView } from '@longwave/events';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { jcsDigest } from '@longwave/idempotency';
import { definitionOf, resourceView } from '../store/resource-row.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { toRow } from './stored-resource.ts';

/** A whole workspace, or the resources that belong to some of its podcasts. */
export interface Scope {
  readonly workspaceId: string;
  readonly podcastIds?: readonly string[];
}

export interface ListQuery {
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

export interface ResourcePage {
  readonly resources: ResourceView[];
  readonly nextCursor: string | undefined;
}

/** The dependencies of a listing. */
export interface ListOptions {
  readonly catalog: Catalog;
  /** 32 bytes; seals cursors. */
  readonly cursorKey: Buffer;
  readonly clock: () => Date;
}

/** A page of resources by the declared sort key, then by id: an order that is stable while nothing changes. */
export async function listResources(
  prisma: PrismaClient,
  { catalog, cursorKey, clock }: ListOptions,
  query: ListQuery,
): Promise<ResourcePage> {
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
          : [{ OR: await Promise.all(scopes.map((scope) => scopeFilter(prisma, definition, scope))) }]),
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
}

/** The condition for the resources of a type in a scope; those that belong to no podcast are in whole workspaces only. */
async function scopeFilter(
  prisma: PrismaClient,
  { type, links }: ResourceDefinition,
  { workspaceId, podcastIds }: Scope,
) {
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
