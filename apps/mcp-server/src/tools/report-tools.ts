import {
  archivedReports,
  listArchivedReports,
  listRecentReports,
  metaSchema,
  monthlyReports,
  permitSomeAnalytics,
} from '@longwave/podcast-analytics';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { readTool } from '../tool.ts';
import { pageArguments, pageFields } from './fields.ts';

const row = archivedReports.shape.objects.element.extend(
  monthlyReports.shape.objects.element.pick({ top_episodes: true, top_countries: true }).partial().shape,
);

/** The place of the first row of a page. */
function placeOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw new Problem('invalid_cursor', 'Send next_cursor of the page before, with the same arguments.');
}

export const listReports = readTool({
  name: 'list_reports',
  title: 'List monthly reports',
  description:
    'Lists monthly reports, the newest month first: one for each podcast and each of the latest three finished months, with its top episodes and countries; with `archived`, one for each older month within the history of the plan.',
  scopes: ['mcp:analytics.read'],
  deadlineMs: 30_000,
  input: z.strictObject({ archived: z.boolean().default(false), ...pageArguments }),
  output: z.strictObject({ meta: metaSchema, items: z.array(row), ...pageFields }),
  run: async ({ asker, args: { archived, limit, cursor } }, deps) => {
    const first = placeOf(cursor);
    permitSomeAnalytics({ caller: asker });
    const { meta, objects } = await (archived ? listArchivedReports(asker, deps) : listRecentReports(asker, deps));
    const next = first + limit;
    return {
      output: {
        meta,
        items: objects.slice(first, next),
        next_cursor: next < objects.length ? String(next) : null,
      },
    };
  },
});
