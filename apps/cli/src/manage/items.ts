import { z } from 'zod';
import type { ManagementApi } from './management-api.ts';
import { readPages } from './pages.ts';
import { columns } from './table.ts';
import { queryOf, readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

const itemSchema = z.looseObject({
  item_id: z.string(),
  source: z.string(),
  line_item_id: z.string(),
  day: z.string().nullable(),
  ours: z.number(),
  theirs: z.number(),
  delta_pct: z.number().nullable(),
  ambiguity: z.string(),
  verdict: z.string().nullable(),
});

const text = { type: 'string' } as const;
const header = ['item', 'source', 'line item', 'day', 'ours', 'theirs', 'differs by', 'ambiguity', 'verdict'];

/** `manage items RECONCILIATION`: what a source and our ledger count, item by item; what people must decide comes first. */
export async function showItems(api: ManagementApi, args: readonly string[]) {
  const { positionals, values } = readWords(args, ['RECONCILIATION'], {
    ...{ undecided: { type: 'boolean' }, all: { type: 'boolean' } },
    ...{ source: text, line_item_id: text, limit: text },
  });
  const { undecided, source, line_item_id: lineItemId, limit } = values;
  const workspace = `/workspaces/${await workspaceOf(api, values.workspace)}`;
  const { rows, hasMore } = await readPages(api, {
    path: `${workspace}/reconciliations/${encodeURIComponent(positionals[0]!)}/items`,
    query: queryOf({ undecided: undecided ? 'true' : undefined, source, line_item_id: lineItemId, limit }),
    ...{ row: itemSchema, all: values.all },
  });
  if (values.json) return JSON.stringify(rows, null, 2);
  if (rows.length === 0) return undecided ? 'There are none without a verdict.' : 'There are none.';
  const shown = rows.map((item) => [
    ...[item.item_id, item.source, item.line_item_id, item.day ?? 'whole period', `${item.ours}`, `${item.theirs}`],
    ...[item.delta_pct === null ? '' : `${item.delta_pct} %`, item.ambiguity, item.verdict ?? ''],
  ]);
  return `${columns([header, ...shown])}${hasMore ? '\n… and more: --all' : ''}`;
}
