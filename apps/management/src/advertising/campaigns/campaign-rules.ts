import type { productCatalog, CommandWithRule } from '@longwave/command-catalog';
import { listLinked, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { finishJob, hasJob, insertJob } from '../../background/job-table.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireCurrency } from '../../workspace/require-currency.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { timeZoneOf } from '../../workspace/time-zone-of.ts';
import { endedLineItemStates } from './campaign.ts';
import { findBudgetIssue, isLowerBudget } from './campaign-budget.ts';
import { sumCampaignUnits } from './prepare-budget.ts';

type Catalog = typeof productCatalog;
type CampaignRules = Pick<Rules<Catalog>, Extract<CommandWithRule<Catalog>, `campaign.${string}`>>;

/** Rules of the campaign commands. */
export const campaignRules = (deps: Parameters<typeof sumCampaignUnits>[0]): CampaignRules => ({
  'campaign.create': async ({ tx, workspaceId, changes }) => {
    const ids = [changes.advertiser_id];
    await requireResources(tx, { workspaceId, type: 'advertisers', ids, path: '/changes/advertiser_id' });
    await requireCurrency(tx, workspaceId, changes.budget, '/changes/budget');
    return { attributes: changes };
  },

  'campaign.revise': {
    // The pacer knows how much a lower budget has to leave room for.
    prepare: async ({ workspaceId, subjectId: campaignId, current: found, changes: { budget: asked } }) => {
      const isAsked = found && asked && isLowerBudget(found.budget, asked);
      const unitMicros = isAsked ? await sumCampaignUnits(deps, { workspaceId, campaignId }, asked) : undefined;
      return async ({ tx, current, changes }) => {
        const { budget } = changes;
        await requireCurrency(tx, workspaceId, budget, '/changes/budget');
        const attributes = { ...current, ...changes };
        if (budget) {
          const campaign = {
            workspaceId,
            campaignId,
            campaign: attributes,
            timeZone: await timeZoneOf(tx, workspaceId),
          };
          const isLower = isLowerBudget(current.budget, budget);
          const issue = await findBudgetIssue(tx, campaign, { isLower, unitMicros });
          if (issue) refuseField('/changes/budget', 'budget_not_kept', issue);
        }
        return { attributes };
      };
    },
  },

  'campaign.complete': async ({ tx, workspaceId, subjectId, current }) => {
    const lineItems = await listLinked(tx, workspaceId, 'line_items', 'campaign', subjectId);
    const open = lineItems.find(({ lifecycle_state: state }) => !endedLineItemStates.includes(state));
    if (open) throw new Problem('still_in_use', `Line item ${open.id} is ${open.lifecycle_state}. End it first.`);
    return { attributes: current };
  },

  'campaign.clone': async ({ tx: held, workspaceId, subjectId, current, changes, now }) => {
    // One clone at a time: its report ends the campaign's running operation.
    if (await hasJob(held, 'clone_campaign', subjectId))
      throw new Problem('state_not_allowed', 'A clone of this campaign is being made. Wait for its operation to end.');
    return {
      attributes: current,
      also: (tx, { version }) =>
        insertJob(tx, {
          kind: 'clone_campaign',
          workspaceId,
          subjectType: 'campaigns',
          subjectId,
          subjectVersion: version,
          input: changes,
          now,
        }),
    };
  },

  'campaign.complete_clone': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'campaign.fail_clone': ({ current, subjectId, reason }) => ({
    attributes: current,
    also: (tx) => finishJob(tx, subjectId, reason),
  }),
});
