import { z } from 'zod';
import type { Answer } from './route.ts';

/** Parameters of every list (contract, Common list behaviour; design: rest-api.md). */
export const listQuery = z.strictObject({
  fields_filter: z.array(z.string()).optional(),
  page: z.int().min(1).optional(),
  per_page: z.int().min(1).max(100).optional(),
});

const perPageDefault = 50;

/** Only the named fields; `id` and `title` always stay. */
function filterFields(item: Record<string, unknown>, fields: readonly string[] | undefined): Record<string, unknown> {
  if (!fields) return item;
  const kept = new Set(['id', 'title', ...fields]);
  return Object.fromEntries(Object.entries(item).filter(([name]) => kept.has(name)));
}

/** RFC 8288 links of a page. */
function pageLinks(url: string, page: number, last: number): string {
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

/** The whole list, or one page of it with `Link` and `X-Total-Count` when a page was asked for. */
export function renderList(
  items: readonly Record<string, unknown>[],
  { fields_filter: fields, page, per_page: perPage }: z.output<typeof listQuery>,
  url: string,
): Answer {
  const shown = items.map((item) => filterFields(item, fields));
  if (page === undefined && perPage === undefined) return { status: 200, body: shown };
  const size = perPage ?? perPageDefault;
  const current = page ?? 1;
  const last = Math.max(1, Math.ceil(items.length / size));
  return {
    status: 200,
    body: shown.slice((current - 1) * size, current * size),
    headers: { Link: pageLinks(url, current, last), 'X-Total-Count': String(items.length) },
  };
}
