import {
  lineItemAlertKinds,
  lineItemAlertSchema,
  lineItemAlertStates,
  productCatalog,
} from '@longwave/command-catalog';
import { openCursor, sealCursor } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import { z } from 'zod';
import { pageQuery } from '../list-query.ts';
import { json, type ManagementRoute } from '../management-route.ts';
import { shownTo } from '../../workspace/access/shown-to.ts';

const { line_items: lineItems, podcasts } = productCatalog.resources;

const idOf = ({ prefix }: { readonly prefix: string }) =>
  z.string().refine((text) => isId(text, prefix), { message: `Send an ID of the form ${prefix}_….` });

const alertQuery = z.strictObject({
  line_item_id: idOf(lineItems).optional().describe('Only alerts of this line item.'),
  podcast_id: idOf(podcasts).optional().describe('Only alerts of this podcast.'),
  state: z.enum(lineItemAlertStates).optional().describe('Only alerts that are open, or that are not any more.'),
  kind: z.enum(lineItemAlertKinds).optional().describe('Only alerts of this kind.'),
  ...pageQuery,
});

const alertPage = z.strictObject({
  rows: z.array(lineItemAlertSchema).describe('Those that were raised last come first.'),
  limit: z.int().describe('The number of rows that the page was bounded by.'),
  next_cursor: z.string().optional().describe('Absent on the last page.'),
});

const listAlertsRoute: ManagementRoute = {
  operation: 'line_item_alert.list',
  method: 'GET',
  path: '/workspaces/{workspace_id}/alerts',
  summary:
    'Alerts of line items (behind their plans, at risk, short of the least of a day, stalled, ending short, above their goals, near their budgets, counted otherwise by others) and of podcasts (unfilled).',
  note: 'Whoever sees the line items of the workspace sees their alerts; what a forecast or a reconciliation says in them, and what slots are worth, sees whoever may read those types. An alert changes nothing; what raises and clears it is in the documentation of pacing.',
  scope: 'management:read',
  query: alertQuery,
  answers: { 200: { description: 'A page of alerts.', body: { name: 'LineItemAlertPage', schema: alertPage } } },
  refusals: ['not_found', 'invalid_cursor', 'temporarily_unavailable', 'timeout'],
  answer: async ({ actor, workspaceId, query }, { readAccess, listAlerts, cursorKey, clock }) => {
    const {
      line_item_id: lineItemId,
      podcast_id: podcastId,
      state,
      kind,
      limit,
      cursor,
    } = query as z.output<typeof alertQuery>;
    const listing = `line_item_alerts ${workspaceId} ${JSON.stringify([lineItemId, podcastId, state, kind])}`;
    const now = clock();
    const before = cursor === undefined ? 0n : BigInt(openCursor(cursorKey, listing, cursor, now).id);
    if (lineItemId !== undefined) await readAccess.getVisible(actor, workspaceId, lineItems.type, lineItemId);
    if (podcastId !== undefined) await readAccess.getVisible(actor, workspaceId, podcasts.type, podcastId);
    // Line items belong to no podcast: who sees only some podcasts sees none of them.
    const [scope] = await readAccess.scopes(actor, workspaceId, lineItems.type);
    if (!scope || scope.podcastIds) return json({ rows: [], limit });
    const { alerts, next } = await listAlerts(workspaceId, { lineItemId, podcastId, state, kind, limit, before });
    return json({
      ...{ rows: alerts.map((alert) => shownTo(actor).alert(alert, workspaceId)), limit },
      ...(next !== undefined && {
        next_cursor: sealCursor(cursorKey, listing, { sortValues: [], id: String(next) }, now),
      }),
    });
  },
};

/** What is wrong with line items. */
export const alertRoutes: readonly ManagementRoute[] = [listAlertsRoute];
