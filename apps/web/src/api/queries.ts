import { QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import type { paths } from '../generated/openapi.d.ts';
import { rest } from './client.ts';
import { asProblem, isPassing } from './problems.ts';
import { session } from './session.ts';

/** Paths of REST v1 that can be read. */
export type ReadPath = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: { content: { 'application/json': unknown } } } } }
    ? P
    : never;
}[keyof paths];

type Read<P extends ReadPath> = paths[P] extends { get: infer O } ? O : never;

/** What a path answers. */
export type Answer<P extends ReadPath> =
  Read<P> extends { responses: { 200: { content: { 'application/json': infer T } } } } ? T : never;

/** What a request of a path names: `{ path: { id }, query: { per_page: 100 } }`. */
export type ReadParams<P extends ReadPath> =
  Read<P> extends { parameters: infer T } ? Pick<T, Extract<keyof T, 'path' | 'query'>> : never;

/** One entry of a list. */
export type Item<P extends ReadPath> = Answer<P> extends readonly (infer T)[] ? T : never;

/** A list, and how many entries there are in all. */
export interface Listing<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** The most entries that one request answers. */
const pageSize = 100;
/** Lists are read up to here, and sorted and searched in the browser. */
const listMax = 500;

interface Reading {
  readonly data?: unknown;
  readonly response: Response;
}
type AnyRead = (path: string, init: { readonly params: unknown; readonly signal?: AbortSignal }) => Promise<Reading>;
// The client's own type asks for a literal path; `ReadPath` and `ReadParams` have checked it.
const read = rest.GET as unknown as AnyRead;

/** An answer with the version that it is of, as `ETag` says. */
export interface Versioned<T> {
  readonly data: T;
  readonly version: string | undefined;
}
const dataOf = <T>({ data }: Versioned<T>): T => data;

/** The query of one resource or number. Its key is the path with its parameters. */
export const get = <P extends ReadPath>(path: P, params: ReadParams<P>) =>
  queryOptions({
    queryKey: ['rest', path, params] as const,
    queryFn: async ({ signal }): Promise<Versioned<Answer<P>>> => {
      const { data, response } = await read(path, { params, signal });
      return { data: data as Answer<P>, version: response.headers.get('etag') ?? undefined };
    },
    select: dataOf<Answer<P>>,
  });

/** The version of a resource that a page has read, for the request that changes it; undefined before it was read. */
export const versionOf = (queries: QueryClient, { queryKey }: { readonly queryKey: readonly unknown[] }) =>
  queries.getQueryData<Versioned<unknown>>(queryKey)?.version;

/** As `select` of a query: the answer with its version, as forms need both of one reading. */
export const withVersion = <T>(answer: Versioned<T>): Versioned<T> => answer;

/** The query of a whole list: its pages one after the other, up to `listMax` entries. */
export const list = <P extends ReadPath>(path: P, params: ReadParams<P>) =>
  queryOptions({
    queryKey: ['rest', path, params, 'all'] as const,
    queryFn: async ({ signal }): Promise<Listing<Item<P>>> => {
      const items: Item<P>[] = [];
      for (let page = 1; ; page += 1) {
        const query = { ...(params as { query?: object }).query, page, per_page: pageSize };
        const { data, response } = await read(path, { params: { ...params, query }, signal });
        items.push(...(data as Item<P>[]));
        const total = Number(response.headers.get('x-total-count') ?? items.length);
        if (items.length >= Math.min(total, listMax) || (data as unknown[]).length < pageSize) return { items, total };
      }
    },
  });

/** The cache of everything that was read, for one tab. */
export const createQueries = (): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => asProblem(error).status === 401 && session.end(),
    }),
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        retry: (count, error) => count < 2 && isPassing(asProblem(error)),
        retryDelay: (count) => 400 * 3 ** count,
        throwOnError: false,
      },
    },
  });
