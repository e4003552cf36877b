import { creates, on, type Examples } from './_example.ts';
import { service } from './_values.ts';

/** Valid requests for the commands of policies. */
export const policyExamples = {
  'policy.create': async (w) =>
    creates(
      'policies',
      {
        name: 'Quiet mornings',
        kind: 'frequency',
        scope: { kind: 'podcasts', podcast_ids: [(await w.podcast()).id] },
        rules: { caps: [{ max: 3, per: 'listener_bucket', window_seconds: 86_400 }] },
      },
      w.actor,
    ),
  'policy.revise': async (w) =>
    on(await w.policy(), { name: 'Less', rules: { max_ms_per_play: 60_000, max_ads_per_play: 2 } }, w.actor),
  'policy.submit': async (w) =>
    on(await w.policy(), { effective_at: new Date(w.now().getTime() + 1000).toISOString() }, w.actor),
  'policy.activate': async (w) => on(await w.scheduledPolicy(), {}, service('management')),
  'policy.supersede': async (w) => on(await w.activePolicy(), {}, service('management')),
  'policy.retire': async (w) => on(await w.activePolicy(), { replacement_id: 'none', cause: 'Not needed.' }, w.actor),
} satisfies Examples;
