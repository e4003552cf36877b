import type { productCatalog } from '@longwave/command-catalog';
import { listLinked, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { openCampaignStates } from '../campaigns/campaign.ts';

type AdvertiserRules = Pick<Rules<typeof productCatalog>, 'advertiser.archive'>;

/** Rules of the advertiser commands. */
export const advertiserRules: AdvertiserRules = {
  'advertiser.archive': async ({ tx, workspaceId, subjectId, current }) => {
    const campaigns = await listLinked(tx, workspaceId, 'campaigns', 'advertiser', subjectId);
    const open = campaigns.find(({ lifecycle_state: state }) => openCampaignStates.includes(state));
    if (open) throw new Problem('still_in_use', `Complete or cancel campaign ${open.id} first.`);
    return { attributes: current };
  },
};
