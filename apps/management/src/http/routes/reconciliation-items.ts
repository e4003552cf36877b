import {
  productCatalog,
  reconciliationAmbiguities,
  reconciliations,
  reconciliationVerdicts,
} from '@longwave/command-catalog';
import { openCursor, sealCursor } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import { z } from 'zod';
import type { StoredItem } from '../../commerce/reconciliations/item-table.ts';
import { flag, pageQuery } from '../list-query.ts';
import { json, type ManagementRoute } from '../management-route.ts';

const itemQuery = z.strictObject({
  undecided: flag.describe('`true`: only items without a verdict.'),
  source: z.string().min(1).max(64).optional().describe('Only items of the source with this name.'),
  line_item_id: z
    .string()
    .refine((text) => isId(text, productCatalog.resources.line_items.prefix), {
      message: 'Send an ID of the form li_….',
    })
    .optional(),
  ...pageQuery,
});

const itemSchema = z.strictObject({
  item_id: z.string().describe('For `reconciliation.decide_item`.'),
  source: z.string(),
  line_item_id: z.string(),
  creative_id: z.string().nullable(),
  day: z.string().nullable().describe('Date in the zone of the source; null: the whole period.'),
  ours: z.int().describe('With what earlier reconciliations have adjusted.'),
  theirs: z.int(),
  matched: z
    .int()
    .nullable()
    .describe(
      'Of ours, servings that the source names one by one; null where it names none. The others are ours or theirs alone.',
    ),
  ours_basis: z.string(),
  theirs_basis: z.string(),
  delta: z.int().describe('Theirs less ours.'),
  delta_pct: z.number().nullable().describe('Per cent of ours, to two digits; null where ours is 0.'),
  ambiguity: z.enum(reconciliationAmbiguities),
  beyond_tolerance: z.boolean(),
  verdict: z.enum(reconciliationVerdicts).nullable(),
  value: z.int().nullable().describe('Of the verdict `agreed_value`.'),
  note: z.string().nullable(),
  decided_by: z.string().nullable().describe('Null also for items within the tolerance.'),
  adjusted: z
    .int()
    .nullable()
    .describe('Units that closing has posted; null before, and where there was no difference.'),
});

const itemPage = z.strictObject({
  rows: z.array(itemSchema).describe('What people must decide comes first, the largest differences before the others.'),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

const hundredths = (share: number) => Math.round(share * 10_000) / 100;

function shown({
  position: _position,
  changed_version: _version,
  beyond,
  ...item
}: StoredItem): z.output<typeof itemSchema> {
  const delta = item.theirs - item.ours;
  return itemSchema.parse({
    ...item,
    ...{ delta, delta_pct: item.ours === 0 ? null : hundredths(delta / item.ours), beyond_tolerance: beyond },
  });
}

const listItems: ManagementRoute = {
  operation: 'reconciliation_item.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/reconciliations/{reconciliation_id}/items',
  summary: 'What a source and our ledger count, item by item, with what was decided.',
  note: 'Items are there once the sources are matched. Who reads the reconciliation reads them.',
  scope: 'management:read',
  query: itemQuery,
  answers: { 200: { description: 'A page of items.', body: { name: 'ReconciliationItemPage', schema: itemPage } } },
  refusals: ['not_found', 'invalid_cursor'],
  answer: async (
    { actor, workspaceId, parameter, query },
    { readAccess, listReconciliationItems, cursorKey, clock },
  ) => {
    const id = parameter('reconciliation_id');
    await readAccess.getVisible(actor, workspaceId, reconciliations.type, id);
    const { undecided, source, line_item_id: lineItemId, limit, cursor } = query as z.output<typeof itemQuery>;
    const listing = `reconciliation_items ${id} ${JSON.stringify([undecided, source, lineItemId])}`;
    const now = clock();
    const after = cursor === undefined ? 0 : Number(openCursor(cursorKey, listing, cursor, now).id);
    const found = await listReconciliationItems(id, { after, limit: limit + 1, undecided, source, lineItemId });
    const rows = found.slice(0, limit);
    const last = found.length > limit ? rows.at(-1) : undefined;
    return json({
      rows: rows.map(shown),
      limit,
      ...(last && { next_cursor: sealCursor(cursorKey, listing, { sortValues: [], id: String(last.position) }, now) }),
    });
  },
};

/** What others have counted beside us. */
export const reconciliationItemRoutes: readonly ManagementRoute[] = [listItems];
