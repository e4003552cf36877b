import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';

/**
 * The rows of one page of a list, or of every page.
 * @param path below the API's base path, without a query
 */
export async function readPages<T extends z.ZodType>(
  api: ManagementApi,
  { path, query, row, all = false }: PagesAsked<T>,
): Promise<{ readonly rows: readonly z.output<T>[]; readonly hasMore: boolean }> {
  const pageSchema = z.looseObject({ rows: z.array(row), next_cursor: z.string().optional() });
  const rows: z.output<T>[] = [];
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) query.set('cursor', cursor);
    const page = pageSchema.parse(await api.ask({ path: `${path}?${query.toString()}` }));
    rows.push(...page.rows);
    cursor = page.next_cursor;
  } while (cursor !== undefined && all);
  return { rows, hasMore: cursor !== undefined };
}

interface PagesAsked<T> {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The form of a row. */
  readonly row: T;
  readonly all?: boolean | undefined;
}
