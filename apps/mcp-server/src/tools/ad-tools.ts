import { productCatalog } from '@longwave/command-catalog';
import { requireRoles } from '@longwave/hosting-client';
import { z } from 'zod';
import { readTool } from '../tool.ts';
import { pageArguments, pageFields, versionField } from './fields.ts';

const { campaigns } = productCatalog.resources;
const { name, window, objective } = campaigns.attributes.shape;

/** A campaign without budget, prices, order number and contacts. */
const campaign = z.strictObject({
  id: z.string(),
  name,
  state: z.enum(campaigns.states),
  window,
  objective,
  ...versionField,
});

export const listAdCampaigns = readTool({
  name: 'list_ad_campaigns',
  title: 'List ad campaigns',
  description:
    'Lists the ad campaigns of the account, without budgets, prices and contacts. Nothing can be changed here.',
  scopes: ['mcp:ads.read'],
  input: z.strictObject({
    state: z.enum(campaigns.states).exclude(['archived']).optional(),
    ...pageArguments,
  }),
  output: z.strictObject({ items: z.array(campaign), ...pageFields }),
  run: async ({ asker, args: { state, limit, cursor = '' } }, { management }) => {
    requireRoles(asker, undefined, ['owner', 'trafficker', 'sales', 'admin']);
    const input = { workspaceId: asker.workspaceId, ...(state && { states: [state] }) };
    const { items, nextCursor } = await management.listPage(asker, 'campaigns', input, { limit, cursor });
    return {
      output: {
        items: items.map(({ id, lifecycle_state, version, attributes }) => ({
          id,
          name: attributes.name,
          state: lifecycle_state,
          window: attributes.window,
          ...(attributes.objective !== undefined && { objective: attributes.objective }),
          version,
        })),
        next_cursor: nextCursor || null,
      },
    };
  },
});
