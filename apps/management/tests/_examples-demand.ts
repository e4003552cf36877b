import { creates, on, type Examples } from './_example.ts';
import { service } from './_values.ts';

const cause = 'The customer asked for it.';
const problem = { code: 'demand_not_usable', detail: 'VAST error 303: The chain of wrappers ends without an ad.' };

/** Valid requests for the commands of demand sources, and of the ads that they answer with. */
export const demandExamples = {
  'demand_source.create': async (w) =>
    creates('demand_sources', w.demandSourceChanges((await w.demandLineItem()).id), w.actor),
  'demand_source.revise': async (w) => on(await w.demandSource(), { timeout_ms: 900, max_wrappers: 1 }, w.actor),
  'demand_source.validate': async (w) => on(await w.demandSource(), {}, w.actor),
  'demand_source.record_validation': async (w) => {
    const { source, lease } = await w.validatingSource();
    return on(source, { finding: w.demandFinding }, service('management'), lease);
  },
  'demand_source.fail_validation': async (w) => {
    const { source, lease } = await w.validatingSource();
    return on(source, { problem }, service('management'), lease);
  },
  'demand_source.pause': async (w) => on(await w.activeSource(), { cause }, w.actor),
  'demand_source.resume': async (w) => on(await w.pausedSource(), {}, w.actor),
  'demand_source.retire': async (w) => on(await w.demandSource(), { cause }, w.actor),
  'demand_source.record_failure': async (w) => on(await w.activeSource(), { problem }, service('management')),
  'demand_source.record_recovery': async (w) =>
    on(
      await w.send('demand_source.record_failure', await w.activeSource(), { problem }, service('management')),
      {},
      service('management'),
    ),
  'creative.import': async (w) => creates('creatives', w.demandAdOf(await w.activeSource()), service('management')),
  'creative.record_trackers': async (w) =>
    on(
      await w.importedCreative(),
      { trackers: [{ event: 'complete', url_template: 'https://ads.example/complete' }] },
      service('management'),
    ),
} satisfies Examples;
