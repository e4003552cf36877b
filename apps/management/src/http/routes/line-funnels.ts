import { accessOf } from '@longwave/command-pipeline';
import { campaignRoles } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { lineFunnelSchema } from '../../commerce/funnel/line-funnel.ts';
import type { FunnelRange } from '../../commerce/funnel/read-line-funnel.ts';
import { json, whileCallerWaits, type ManagementRoute } from '../management-route.ts';

const hourMs = 3_600_000;
/** The longest time that one answer covers. */
const maxDays = 31;

const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .optional();

const funnelQuery = z.strictObject({
  from: instant.describe('Grows to its whole hour; 24 hours before `to` when absent.'),
  to: instant.describe(`Grows to its whole hour, at most ${maxDays} days after \`from\`; now when absent.`),
});
type FunnelQuery = z.output<typeof funnelQuery>;

/** The whole hours that are asked for. Throws `validation_failed` for a time that ends before it begins or is too long. */
function rangeOf({ from: asked, to: end }: FunnelQuery, now: Date): FunnelRange {
  const toMs = Math.ceil((end ?? now).getTime() / hourMs) * hourMs;
  const fromMs = Math.floor((asked?.getTime() ?? toMs - 24 * hourMs) / hourMs) * hourMs;
  const refused = (detail: string) =>
    new Problem('validation_failed', detail, { errors: [{ path: '/query/from', code: 'window', detail }] });
  if (fromMs >= toMs) throw refused('“from” must be before “to”.');
  if (toMs - fromMs > maxDays * 24 * hourMs) throw refused(`An answer covers at most ${maxDays} days.`);
  return { from: new Date(fromMs), to: new Date(toMs) };
}

const readFunnel: ManagementRoute = {
  operation: 'line_item_funnel.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/line-items/{line_item_id}/funnel',
  summary:
    'Why a line item was given no more slots, by the hour: from what the workspace offered to what was confirmed.',
  note: `\`fit\` says of sampled plays which breaks the line item fits as it is now, by which part of its targeting it does not fit the others, and who
has slots of those that it fits. It needs a role that sees campaigns (owner, admin, trafficker or sales).`,
  scope: 'management:read',
  query: funnelQuery,
  answers: { 200: { description: 'The numbers.', body: { name: 'LineItemFunnel', schema: lineFunnelSchema } } },
  refusals: ['permission_denied', 'not_found', 'rate_limited', 'temporarily_unavailable', 'timeout'],
  answer: async (call, { readAccess, readLineFunnel, clock }) => {
    const { actor, workspaceId, parameter, query } = call;
    const id = parameter('line_item_id');
    await readAccess.getVisible(actor, workspaceId, 'line_items', id);
    if (accessOf(actor, workspaceId, { roles: campaignRoles }).outcome !== 'permitted')
      throw new Problem('permission_denied', 'You may not see campaigns here.');
    return json(await readLineFunnel(workspaceId, id, rangeOf(query, clock()), whileCallerWaits(call)));
  },
};

/** What spoke for and against line items. */
export const lineFunnelRoutes: readonly ManagementRoute[] = [readFunnel];
