import { productCatalog, type Resource } from '@longwave/command-catalog';
import { callOptions, requireRoles, type Asker } from '@longwave/hosting-client';
import {
  decideRange,
  isEmpty,
  jointBasis,
  metaSchema,
  permitPlan,
  podcastRangeQuery,
  renderMeta,
  wireRange,
} from '@longwave/podcast-analytics';
import { campaignRoles } from '@longwave/principal';
import { z } from 'zod';
import { readTool, type ToolDeps } from '../tool.ts';
import { pageArguments, pageFields, podcastId, versionField } from './fields.ts';

const { campaigns } = productCatalog.resources;
const { name, window, objective } = campaigns.attributes.shape;
type Campaign = Resource<'campaigns'>;

/** Days before today that are counted when the call names no range. */
const defaultDays = 30;

/** Pages of management that one page of the tool may take, when the podcast leaves most campaigns out. */
const maxPages = 10;

const performance = z.strictObject({
  ads_decided: z.int().min(0).describe('Ads chosen for a play.'),
  ads_delivered: z.int().min(0).describe('Ads whose bytes were all sent within a counted download.'),
});

/** A campaign without budget, prices, order number and contacts, and without the number of ads that are billed. */
const campaign = z.strictObject({
  id: z.string(),
  name,
  state: z.enum(campaigns.states),
  window,
  objective,
  performance: performance.nullable().describe('Null when the plan does not include analytics.'),
  ...versionField,
});

const showCampaign = (
  { id, lifecycle_state: state, version, attributes }: Campaign,
  counted: z.output<typeof performance> | null,
): z.output<typeof campaign> => ({
  id,
  name: attributes.name,
  state,
  window: attributes.window,
  ...(attributes.objective !== undefined && { objective: attributes.objective }),
  performance: counted,
  version,
});

interface Counting {
  readonly workspaceId: string;
  readonly podcastId: string | undefined;
  readonly range: ReturnType<typeof decideRange>;
}

/** Ads of campaigns in the range, from the ledger that REST API v1 and the flights of line items are counted from. */
async function countAds(
  items: readonly Campaign[],
  { workspaceId, podcastId: inPodcast, range }: Counting,
  asker: Asker,
  { audience }: ToolDeps,
) {
  const { campaigns: counts, ...basis } = await audience.countCampaigns(
    { workspaceId, campaignIds: items.map(({ id }) => id), podcastId: inPodcast, range: wireRange(range) },
    callOptions(asker),
  );
  const known = isEmpty(range) ? [] : counts;
  return {
    basis,
    of: new Map(
      known.map(({ campaignId, decided, delivered }) => [
        campaignId,
        { ads_decided: Number(decided), ads_delivered: Number(delivered) },
      ]),
    ),
  };
}

export const listAdCampaigns = readTool({
  name: 'list_ad_campaigns',
  title: 'List ad campaigns',
  description: `Lists the ad campaigns of the account and how many ads of each were chosen and delivered, without budgets, prices and contacts. Name the range of the numbers by \`from\` and \`to\`, or by \`days_offset\`; without them it is the last ${defaultDays} days. With \`podcast_id\`, only campaigns with ads in that podcast in the range, and their numbers there; a page may then have fewer items than \`limit\` although there are more: follow \`next_cursor\` until it is null. Nothing can be changed here.`,
  scopes: ['mcp:ads.read'],
  input: podcastRangeQuery.pick({ from: true, to: true, days_offset: true }).extend({
    podcast_id: podcastId.optional(),
    state: z.enum(campaigns.states).exclude(['archived']).optional(),
    ...pageArguments,
  }),
  output: z.strictObject({
    meta: metaSchema.nullable().describe('How the ads were counted; null when the plan does not include analytics.'),
    items: z.array(campaign),
    ...pageFields,
  }),
  run: async ({ asker, args }, deps) => {
    const { podcast_id: inPodcast, state, limit, cursor: begin = '', ...query } = args;
    const found = inPodcast === undefined ? undefined : await deps.management.find(asker, 'podcasts', inPodcast);
    const { workspaceId, plan } = found?.access ?? asker;
    requireRoles(asker, { workspaceId, podcastId: undefined }, campaignRoles);
    if (found) permitPlan(found);

    const input = { workspaceId, ...(state && { states: [state] }) };
    if (!plan.includesAnalytics) {
      const { items, nextCursor } = await deps.management.listPage(asker, 'campaigns', input, { limit, cursor: begin });
      const shown = items.map((item) => showCampaign(item, null));
      return { output: { meta: null, items: shown, next_cursor: nextCursor || null } };
    }
    const asked = Object.keys(query).length === 0 ? { days_offset: defaultDays } : query;
    const range = decideRange(asked, plan.historyDays, deps.clock());
    const shown: z.output<typeof campaign>[] = [];
    const bases: Awaited<ReturnType<typeof countAds>>['basis'][] = [];
    let cursor = begin;
    do {
      const ask = { limit: limit - shown.length, cursor };
      const { items, nextCursor } = await deps.management.listPage(asker, 'campaigns', input, ask);
      const { of, basis } = await countAds(items, { workspaceId, podcastId: inPodcast, range }, asker, deps);
      const wanted = inPodcast === undefined ? items : items.filter(({ id }) => of.has(id));
      shown.push(...wanted.map((item) => showCampaign(item, of.get(item.id) ?? { ads_decided: 0, ads_delivered: 0 })));
      bases.push(basis);
      cursor = nextCursor;
    } while (inPodcast !== undefined && cursor !== '' && shown.length < limit && bases.length < maxPages);
    const [first, ...others] = bases;
    return {
      output: { meta: renderMeta(range, jointBasis(first!, ...others)), items: shown, next_cursor: cursor || null },
    };
  },
});
