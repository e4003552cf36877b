import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { refuseField } from '../../workspace/refuse-field.ts';

type IntentRules = Pick<Rules<typeof productCatalog>, 'serving_intent.publish' | 'serving_intent.republish'>;

/** Rules of the serving intents. */
export const intentRules: IntentRules = {
  'serving_intent.publish': ({ changes, now }) => ({
    attributes: { ...changes, effective_at: now.toISOString(), supersedes: 0 },
  }),

  'serving_intent.republish': ({ current, changes, now }) => {
    if (changes.authority_id !== current.authority_id)
      refuseField('/changes/authority_id', 'other_authority', 'An intent belongs to one authority for ever.');
    // Each version is made by one of these two commands.
    return { attributes: { ...changes, effective_at: now.toISOString(), supersedes: current.supersedes + 1 } };
  },
};
