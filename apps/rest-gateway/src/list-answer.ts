import { listSorts } from '@longwave/events';
import { z } from 'zod';
import type { Answer } from './route.ts';

/** Parameters of every list. */
export const listQuery = z.strictObject({
  fields_filter: z.array(z.string()).optional(),
  page: z.int().min(1).optional(),
  per_page: z.int().min(1).max(100).optional(),
  sort: z
    .enum(listSorts)
    .optional()
    .meta({ description: 'Order of the list. "-" puts the newest first. Default: created_at.' }),
  updated_since: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: 'Only items that were changed at this time or later.', examples: ['2026-11-01T00:00:00Z'] }),
});

/** Parameters of a list that depend on its type. */
export interface ChosenByType {
  readonly state?: readonly string[] | undefined;
  readonly q?: string | undefined;
}

/** Order and filters of a list as management takes them. */
export const chosenItems = ({
  sort,
  updated_since: since,
  state,
  q,
}: Pick<z.output<typeof listQuery>, 'sort' | 'updated_since'> & ChosenByType) => ({
  sort,
  ...(since !== undefined && { updatedSince: new Date(since) }),
  ...(state !== undefined && { states: state }),
  ...(q !== undefined && { titleContains: q }),
});

const perPageDefault = 50;

/** Only the named fields; `id` and `title` always stay. */
function filterFields(item: Record<string, unknown>, kept: ReadonlySet<string> | undefined): Record<string, unknown> {
  return kept ? Object.fromEntries(Object.entries(item).filter(([name]) => kept.has(name))) : item;
}

/** RFC 8288 links of a page. */
export function pageLinks(url: string, page: number, last: number): string {
  const to = (number: number, rel: string) => {
    const target = new URL(url);
    target.searchParams.set('page', String(number));
    return `<${target.href}>; rel="${rel}"`;
  };
  return [
    to(1, 'first'),
    ...(page > 1 ? [to(Math.min(page - 1, last), 'prev')] : []),
    ...(page < last ? [to(page + 1, 'next')] : []),
    to(last, 'last'),
  ].join(', ');
}

/**
 * The whole list, or one page of it with `Link` and `X-Total-Count` when a page was asked for. Items of the
 * answer are rendered as they come and the others only counted, so that a long list is never held in memory.
 */
export async function renderList<T>(
  pages: AsyncIterable<readonly T[]>,
  render: (items: readonly T[]) => readonly Record<string, unknown>[] | Promise<readonly Record<string, unknown>[]>,
  { fields_filter: fields, page, per_page: perPage }: z.output<typeof listQuery>,
  url: string,
): Promise<Answer> {
  const kept = fields && new Set(['id', 'title', ...fields]);
  const isPaged = page !== undefined || perPage !== undefined;
  const size = isPaged ? (perPage ?? perPageDefault) : Infinity;
  const current = page ?? 1;
  const first = isPaged ? (current - 1) * size : 0;
  const body: Record<string, unknown>[] = [];
  let total = 0;
  for await (const items of pages) {
    const shown = items.slice(Math.max(0, first - total), Math.max(0, first + size - total));
    if (shown.length > 0) body.push(...(await render(shown)).map((item) => filterFields(item, kept)));
    total += items.length;
  }
  if (!isPaged) return { status: 200, body };
  const last = Math.max(1, Math.ceil(total / size));
  return {
    status: 200,
    body,
    headers: { Link: pageLinks(url, current, last), 'X-Total-Count': String(total) },
  };
}
