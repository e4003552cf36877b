import type { ResourceView } from '@longwave/events';
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
function filterFields(item: Record<string, unknown>, kept: ReadonlySet<string> | undefined): Record<string, unknown> {
  return kept ? Object.fromEntries(Object.entries(item).filter(([name]) => kept.has(name))) : item;
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

type Render = (item: ResourceView) => Record<string, unknown> | Promise<Record<string, unknown>>;

/**
 * The whole list, or one page of it with `Link` and `X-Total-Count` when a page was asked for. What is shown is rendered as it
 * comes and the rest is only counted, so that a long list is never held as it is stored.
 */
export async function renderList(
  pages: AsyncIterable<readonly ResourceView[]>,
  render: Render,
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
    body.push(...(await Promise.all(shown.map(async (item) => filterFields(await render(item), kept)))));
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
