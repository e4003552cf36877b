import type { Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { creates, on, type Examples } from './_example.ts';
import { hour, service } from './_values.ts';
import type { World } from './_world.ts';

const cause = 'The buyer prefers a credit.';
const goal = { unit: 'impressions', quantity: 1_000 } as const;

/** A line item with a goal of 1,000 that was stopped; the ledger of these worlds has nothing of it. */
export async function stoppedLineItem(w: World, changes: object = {}): Promise<ResourceView> {
  const { lineItem } = await w.delivering({ ...w.longFlight(), goal, ...changes });
  return w.send('line_item.stop', lineItem, { cause: 'The show ended.' }, service('operator'));
}

export const proposed = async (w: World, changes: object = {}) =>
  w.send('makegood.propose', null, { for_line_item: (await stoppedLineItem(w)).id, units: 1_000, ...changes });

export const accepted = async (w: World, changes: object = {}) =>
  w.send('makegood.accept', await proposed(w, changes), {}, service('operator'));

/** A window that is ahead. */
export const nextDays = (w: World) => ({
  start: new Date(w.now().getTime() + hour).toISOString(),
  end: new Date(w.now().getTime() + 100 * hour).toISOString(),
});

/** A makegood of so many units that waits for its line item, for a line item that has ended. */
export async function scheduledFor(w: World, lineItem: Pick<ResourceView, 'id'>, units: number): Promise<ResourceView> {
  const makegood = await w.send('makegood.propose', null, { for_line_item: lineItem.id, units });
  const deal = await w.send('makegood.accept', makegood, {}, service('operator'));
  return w.send('makegood.schedule', deal, { window: nextDays(w) });
}

/** Creates the line item of a scheduled makegood in the campaign of the one that fell short, as its job does. */
export const makegoodLine = (
  w: World,
  makegood: ResourceView,
  short: ResourceView,
  changes: object = {},
  as: Actor = service('management'),
) =>
  w.send(
    'line_item.create',
    null,
    {
      ...w.lineItemChanges(String(short.attributes['campaign_id'])),
      ...{ window: nextDays(w), goal: { unit: 'impressions', quantity: makegood.attributes['units'] } },
      ...{ rate: { model: 'none' }, makegood_of: short.id, ...changes },
    },
    as,
  );

async function scheduled(w: World) {
  const makegood = await w.send('makegood.schedule', await accepted(w), { window: nextDays(w) });
  return { makegood, lease: await w.lease('schedule_makegood', makegood.id) };
}

/** A scheduled makegood with a line item. */
async function withLineItem(w: World) {
  const { makegood, lease } = await scheduled(w);
  const { id } = await w.lineItem();
  return w.send('makegood.record_line_item', makegood, { line_item_id: id }, service('management'), lease);
}

/** Valid requests for the commands of makegoods. */
export const makegoodExamples = {
  'makegood.propose': async (w) =>
    creates(
      'makegoods',
      {
        ...{ for_line_item: (await stoppedLineItem(w)).id, units: 900, reason: 'Few downloads in autumn.' },
        proposed_line: { window: nextDays(w), name: 'Winter' },
      },
      w.actor,
    ),
  'makegood.draft': async (w) => {
    const { id } = await stoppedLineItem(w);
    const delivery = { measured_at: w.now().toISOString(), goal: 1_000, confirmed: 400, adjusted: -100 };
    return creates('makegoods', { for_line_item: id, delivery }, service('management'));
  },
  'makegood.accept': async (w) => on(await proposed(w), {}, w.actor),
  'makegood.decline': async (w) => on(await proposed(w), { cause }, w.actor),
  'makegood.schedule': async (w) => on(await accepted(w), { window: nextDays(w) }, w.actor),
  'makegood.record_line_item': async (w) => {
    const { makegood, lease } = await scheduled(w);
    return on(makegood, { line_item_id: (await w.lineItem()).id }, service('management'), lease);
  },
  'makegood.fail_schedule': async (w) => {
    const { makegood, lease } = await scheduled(w);
    const problem = { code: 'schedule_gave_up', detail: 'Not this time.' };
    return on(makegood, { problem }, service('management'), lease);
  },
  'makegood.fulfil': async (w) => on(await withLineItem(w), { confirmed: 1_010 }, service('management')),
  'makegood.expire': async (w) => on(await withLineItem(w), { confirmed: 10 }, service('management')),
} satisfies Examples;
