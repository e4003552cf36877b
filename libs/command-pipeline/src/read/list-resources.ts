import type { Catalog } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { jcsDigest } from '@longwave/idempotency';
import { isStatementTimeout, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { definitionOf, resourceView } from '../store/resource-row.ts';
import { openCursor, sealCursor, type CursorKeys } from './cursor.ts';
import { countRows, readPage, type ListFilter, type Scope } from './list-table.ts';

export type { Scope };

/** Rows of a page, unless asked otherwise, and at most. */
export const pageLimit = { default: 50, max: 200 } as const;

/** Rows of a page for the number that was asked for: within 1 and the maximum. */
export const boundedLimit = (limit: number = pageLimit.default): number => Math.min(Math.max(limit, 1), pageLimit.max);

export interface ListQuery {
  /** An empty list finds nothing. */
  readonly scopes: readonly Scope[] | 'everywhere';
  readonly resourceType: string;
  /** Link name → linked id. */
  readonly links?: Readonly<Record<string, string>>;
  /** Only those that link to it, by whatever link. */
  readonly parentId?: string;
  /** Only these; at most 200. */
  readonly ids?: readonly string[];
  readonly lifecycleStates?: readonly string[];
  /** Only those whose present version is of this time or later. */
  readonly updatedSince?: Date;
  /** Only those whose name or title contains this text, in letters of either case. */
  readonly titleContains?: string;
  /** Terminal states of podcasts and episodes: what belongs to one in such a state is left out. */
  readonly hiddenBelow?: ListFilter['hiddenBelow'];
  /** A sort key of the type (`sortKeysOf`), downwards with `-` before it. Default: created_at. */
  readonly sort?: string;
  /** Default 50; larger than 200 is cut to 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ResourcePage {
  readonly resources: ResourceView[];
  readonly nextCursor: string | undefined;
}

/** A number of resources. */
export interface ResourceCount {
  readonly count: number;
  /** False when there are more, or could be: counting has a bound. */
  readonly exact: boolean;
}

/** The dependencies of a listing. */
export interface ListOptions {
  readonly catalog: Catalog;
  /** 32 bytes; seals cursors. */
  readonly cursorKey: CursorKeys;
  readonly clock: () => Date;
}

/**
 * A page of resources by a sort key of the type, then by id. With a text filter a page may have fewer resources than asked for, or none,
 * although there is a next cursor. Throws `unknown_resource_type`, `invalid_cursor`, `validation_failed` or `timeout`.
 */
export async function listResources(
  pool: Pool,
  { catalog, cursorKey, clock }: ListOptions,
  query: ListQuery,
): Promise<ResourcePage> {
  const { resourceType, sort = 'created_at', cursor } = query;
  const definition = definitionOf(catalog, resourceType);
  const filter = filterOf(query);
  if (isEmpty(filter)) return { resources: [], nextCursor: undefined };
  const listing = listingOf(query, filter, sort);
  const position = cursor ? openCursor(cursorKey, listing, cursor, clock()) : undefined;
  const { rows, after } = await bounded(
    readPage(pool, definition, filter, { sort, after: position, limit: boundedLimit(query.limit) }),
  );
  return {
    resources: rows.map((row) => resourceView(definition, row)),
    nextCursor: after && sealCursor(cursorKey, listing, after, clock()),
  };
}

/** The number of resources of a list, on whatever page it stands. */
export async function countResources(pool: Pool, { catalog }: ListOptions, query: ListQuery): Promise<ResourceCount> {
  const filter = filterOf(query);
  const definition = definitionOf(catalog, query.resourceType);
  return isEmpty(filter) ? { count: 0, exact: true } : bounded(countRows(pool, definition, filter));
}

function filterOf(query: ListQuery): ListFilter {
  const { scopes, links = {}, parentId, ids, lifecycleStates = [], updatedSince, titleContains, hiddenBelow } = query;
  const states = [...new Set(lifecycleStates)];
  // No title contains less than the empty text.
  const text = titleContains === '' ? undefined : titleContains;
  return { scopes, links, parentId, ids, lifecycleStates: states, updatedSince, text, hiddenBelow };
}

const isEmpty = ({ scopes, ids }: ListFilter): boolean => scopes.length === 0 || ids?.length === 0;

/** What a cursor belongs to: scopes, type, filter and sort. Cursors that are in use know the first members by these names. */
function listingOf(
  { resourceType, lifecycleStates = [], titleContains }: ListQuery,
  { scopes, links, parentId, ids, updatedSince, hiddenBelow }: ListFilter,
  sort: string,
): string {
  return jcsDigest({
    ...{ places: scopes, resourceType, links, lifecycleStates, sort },
    updatedSince: updatedSince?.toISOString() ?? null,
    titleContains: titleContains ?? null,
    ...(parentId !== undefined && { parentId }),
    ...(ids !== undefined && { ids }),
    ...(hiddenBelow !== undefined && { hiddenBelow }),
  });
}

/** A list that takes the database too long is the caller's to narrow. */
async function bounded<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    if (!isStatementTimeout(cause)) throw cause;
    throw new Problem('timeout', 'The list takes too long. Narrow it with a filter.', { cause, retryAfterSeconds: 5 });
  }
}
