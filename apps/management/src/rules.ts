import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { creativeRules } from './creatives/creative-rules.ts';
import { episodeRules } from './episodes/episode-rules.ts';
import { lineItemRules } from './line-items/line-item-rules.ts';
import { podcastRules } from './podcasts/podcast-rules.ts';
import { productionRules, type ProbeDuration } from './productions/production-rules.ts';
import { servingPlanRules } from './serving-plans/serving-plan-rules.ts';
import { uploadRules } from './uploads/upload-rules.ts';
import { workspaceRules } from './workspaces/workspace-rules.ts';

/** A rule for every command of the catalog that needs one; the compiler lists what is missing. */
export const createRules = (options: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly mediaUrl: string;
  readonly probeDuration: ProbeDuration;
}): Rules<typeof productCatalog> => ({
  ...workspaceRules,
  ...podcastRules(options.mediaUrl),
  ...episodeRules,
  ...uploadRules(options.store, options.mediaUrl),
  ...productionRules(options),
  ...creativeRules(options),
  ...lineItemRules,
  ...servingPlanRules,
});
