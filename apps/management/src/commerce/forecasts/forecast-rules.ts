import { maxForecastDays, type ChangesOf, type productCatalog } from '@longwave/command-catalog';
import { actorId, type Decision, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { Attributes } from '@longwave/command-catalog';
import type { ForecastJobInput } from '@longwave/events';
import { finishJob, insertJob, requireLease, stopJobs } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';
import { requireTargeted } from '../../advertising/line-items/require-targeted.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { readPlanLine, readProspectiveLine } from './read-booked-plan.ts';

type Forecast = Attributes<'forecasts'>;
type Request = ChangesOf<'forecast.request'>;
type ForecastRules = Pick<
  Rules<typeof productCatalog>,
  Exclude<Extract<keyof Rules<typeof productCatalog>, `forecast.${string}`>, never>
>;

const dayMs = 86_400_000;
/** Facts of a day change what a forecast says. */
const relevantMs = dayMs;
const maxOpen = 4;
/** A person waits for the answer. */
const workload = { workClass: 'interactive', expectedMs: 3_000 } as const;

/** Throws `validation_failed` unless the kind of forecast has what it asks about. */
function checkRequest({ kind, window, prospective, line_item_ids: ids }: Request, now: Date): void {
  const [start, end] = [Date.parse(window.start), Date.parse(window.end)];
  if (end <= now.getTime()) refuseField('/changes/window/end', 'not_future', 'Choose an end to come.');
  if (end - start > maxForecastDays * dayMs)
    refuseField('/changes/window', 'too_long', `A forecast looks over at most ${maxForecastDays} days.`);
  if (prospective && ids)
    refuseField(
      '/changes/prospective',
      'two_subjects',
      'Ask about line items that are there, or about one that is not.',
    );
  if (kind === 'availability' && !prospective && ids?.length !== 1)
    refuseField(
      '/changes/line_item_ids',
      'one_subject',
      'Availability is asked for one line item, or a prospective one.',
    );
  if (kind === 'traffic' && ids)
    refuseField(
      '/changes/line_item_ids',
      'no_subject',
      'Traffic has no line items. Name a prospective one for its targeting.',
    );
  if (kind === 'delivery' && prospective)
    refuseField('/changes/prospective', 'no_subject', 'Delivery is of line items that are there.');
}

/** The line item that is asked about, as a plan has it. */
async function lineAskedAbout({ tx, workspaceId, changes, now }: RuleInput<Forecast, Request>) {
  const { kind, window, prospective, line_item_ids: ids = [] } = changes;
  if (prospective) {
    await requireTargeted(tx, workspaceId, prospective.targeting, '/changes/prospective/targeting');
    const line = await readProspectiveLine(tx, workspaceId, prospective, window, now);
    return line ?? refuseField('/changes/prospective/targeting', 'nowhere', 'This targeting leaves no place to serve.');
  }
  const path = '/changes/line_item_ids';
  const rows = await requireResources(tx, { workspaceId, type: 'line_items', ids: [...new Set(ids)], path });
  if (kind !== 'availability') return undefined;
  const line = await readPlanLine(tx, rows[0]!, { ...rows[0]!.attributes, window }, now);
  return line ?? refuseField(path, 'nowhere', 'The line item has no place to serve in this window.');
}

async function request(input: RuleInput<Forecast, Request>): Promise<Decision<Forecast>> {
  const { tx, workspaceId, subjectId, changes, actor, now } = input;
  checkRequest(changes, now);
  const line = await lineAskedAbout(input);
  await assertFewOpenJobs(tx, workspaceId, 'run_forecast', 'forecasts', maxOpen);
  const { kind, window, line_item_ids: ids } = changes;
  const job: ForecastJobInput = { kind, window, ...(line && { line_item: line }), ...(ids && { line_item_ids: ids }) };
  return {
    attributes: { ...changes, requested_by: actorId(actor) },
    also: (inner, { version }) =>
      insertJob(inner, {
        ...{ kind: 'run_forecast', workspaceId, subjectId, subjectType: 'forecasts', subjectVersion: version },
        ...{ input: job, now, work: workload },
      }),
  };
}

/** Rules of the commands of forecasts. */
export const forecastRules: ForecastRules = {
  'forecast.request': request,

  'forecast.start': async ({ tx, current, subjectId, reason }) => {
    await requireLease(tx, subjectId, reason);
    return { attributes: current };
  },

  'forecast.complete': ({ current, changes, subjectId, reason, now }) => ({
    attributes: { ...current, ...changes, expires_at: new Date(now.getTime() + relevantMs).toISOString() },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'forecast.fail': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'forecast.cancel': ({ current, subjectId }) => ({ attributes: current, also: (tx) => stopJobs(tx, subjectId) }),
};
