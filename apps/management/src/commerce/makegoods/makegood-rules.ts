import type { productCatalog } from '@longwave/command-catalog';
import {
  actorId,
  findResource,
  listLinked,
  type Decision,
  type ResourceRow,
  type RuleInput,
  type Rules,
} from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { checkOpen, checkWindow } from '../../advertising/line-items/line-item.ts';
import { finishJob, insertJob } from '../../background/job-table.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import * as makegood from './makegood.ts';
import type { Makegood } from './makegood.ts';
import { createMeasureDelivery, type Delivered } from './measure-delivery.ts';
import { lockMakegoods, removeCheck } from './shortfall-table.ts';

type MakegoodRules = Pick<
  Rules<typeof productCatalog>,
  Extract<keyof Rules<typeof productCatalog>, `makegood.${string}`>
>;
type Input<C> = RuleInput<Makegood, C>;

const changedMeanwhile = () => new Problem('state_not_allowed', 'The line item has just changed. Try again.');

/** The line item that fell short. Throws `link_not_found`, or `state_not_allowed` before it has ended. */
async function endedLineItem(
  { tx, workspaceId }: Pick<Input<unknown>, 'tx' | 'workspaceId'>,
  id: string,
): Promise<ResourceRow<'line_items'>> {
  const path = '/changes/for_line_item';
  const [row] = await requireResources(tx, { workspaceId, type: 'line_items', ids: [id], path, unless: [] });
  makegood.assertEnded(row!.attributes, row!.lifecycle_state);
  return row!;
}

/** Earlier makegoods of a line item. Throws `validation_failed` while another one is open. */
async function earlierMakegoods({ tx, workspaceId, subjectId }: Input<unknown>, lineItemId: string) {
  await lockMakegoods(tx, lineItemId);
  const all = await listLinked(tx, workspaceId, 'makegoods', 'for_line_item', lineItemId);
  const others = all.filter(({ id }) => id !== subjectId);
  const open = others.find(({ lifecycle_state: state }) => makegood.openStates.includes(state));
  if (open) refuseField('/changes/for_line_item', 'already_open', `${open.id} is open for this line item.`);
  return others;
}

/** The delivery of a line item that was measured at a time. */
const deliveryOf = ({ attributes: { goal } }: ResourceRow<'line_items'>, measured: Delivered, at: Date) => ({
  ...{ measured_at: at.toISOString(), goal: goal.quantity! },
  ...{ confirmed: measured.confirmed, adjusted: measured.adjusted },
});

/** Throws unless the campaign of the new line item is open, of the same advertiser, and has room for its window. */
async function checkPlace(
  { tx, workspaceId, now }: Input<unknown>,
  original: ResourceRow<'line_items'>,
  { campaign_id: campaignId, window }: NonNullable<Makegood['proposed_line']>,
): Promise<void> {
  if (!window) refuseField('/changes/window', 'required', 'Say when the line item delivers.');
  const of = async (id: string) => {
    const unless = id === campaignId ? ['completed', 'cancelled', 'archived'] : [];
    const path = '/changes/campaign_id';
    const [row] = await requireResources(tx, { workspaceId, type: 'campaigns', ids: [id], path, unless });
    return row!;
  };
  const bought = await of(original.attributes.campaign_id);
  const campaign = campaignId === undefined ? bought : await of(campaignId);
  if (['completed', 'cancelled', 'archived'].includes(campaign.lifecycle_state))
    refuseField(
      '/changes/campaign_id',
      'campaign_over',
      `The campaign is ${campaign.lifecycle_state}. Name another one of the advertiser.`,
    );
  if (campaign.attributes.advertiser_id !== bought.attributes.advertiser_id)
    refuseField(
      '/changes/campaign_id',
      'other_advertiser',
      'A makegood makes good what the same advertiser has bought.',
    );
  checkWindow(window, campaign.attributes.window);
  checkOpen(window, now);
}

/** Rules of the commands of makegoods. */
export const makegoodRules = (
  options: Parameters<typeof createMeasureDelivery>[0] & { readonly pool: Pool },
): MakegoodRules => {
  const measure = createMeasureDelivery(options);

  /** What a line item has delivered now, asked before the transaction; undefined where there is no such line item. */
  async function measured(workspaceId: string, id: string | undefined): Promise<Delivered | undefined> {
    const row = id === undefined ? undefined : await findResource(options.pool, workspaceId, 'line_items', id);
    return row && makegood.canFallShort(row.attributes) ? measure(workspaceId, row) : undefined;
  }

  return {
    'makegood.propose': {
      prepare: async ({ workspaceId, changes: asked }) => {
        const delivered = await measured(workspaceId, asked.for_line_item);
        return async (input): Promise<Decision<Makegood>> => {
          const { changes, actor, now } = input;
          const lineItem = await endedLineItem(input, changes.for_line_item);
          if (!delivered) throw changedMeanwhile();
          const earlier = await earlierMakegoods(input, lineItem.id);
          const delivery = deliveryOf(lineItem, delivered, now);
          makegood.assertMissing(delivery, changes.units, makegood.unitsMadeGood(earlier));
          const value = makegood.valueOf(lineItem.attributes, changes.units);
          return {
            attributes: { ...changes, delivery, requested_by: actorId(actor), ...(value && { value }) },
            also: (tx: Transaction) => removeCheck(tx, lineItem.id),
          };
        };
      },
    },

    'makegood.draft': async (input) => {
      const { changes, actor } = input;
      const { for_line_item: id, delivery } = changes;
      const lineItem = await endedLineItem(input, id);
      const earlier = await earlierMakegoods(input, id);
      const units = makegood.shortfallOf(delivery) - makegood.unitsMadeGood(earlier);
      makegood.assertMissing(delivery, units, makegood.unitsMadeGood(earlier));
      const value = makegood.valueOf(lineItem.attributes, units);
      return {
        attributes: { for_line_item: id, units, delivery, requested_by: actorId(actor), ...(value && { value }) },
        also: (tx) => removeCheck(tx, id),
      };
    },

    'makegood.accept': {
      prepare: async ({ workspaceId, current: seen }) => {
        const delivered = await measured(workspaceId, seen?.for_line_item);
        return async (input) => {
          const { current, now } = input;
          const lineItem = await endedLineItem(input, current.for_line_item);
          if (!delivered) throw changedMeanwhile();
          const earlier = await earlierMakegoods(input, lineItem.id);
          const delivery = deliveryOf(lineItem, delivered, now);
          makegood.assertMissing(delivery, current.units, makegood.unitsMadeGood(earlier));
          const value = makegood.valueOf(lineItem.attributes, current.units);
          return { attributes: { ...current, delivery, ...(value && { value }) } };
        };
      },
    },

    'makegood.schedule': async (input) => {
      const { tx: held, workspaceId, subjectId, current, changes, now } = input;
      const line = { ...current.proposed_line, ...changes };
      const original = await findResource(held, workspaceId, 'line_items', current.for_line_item);
      await checkPlace(input, original!, line);
      const { problem: _problem, ...kept } = current;
      return {
        attributes: { ...kept, proposed_line: line },
        also: (tx, { version }) =>
          insertJob(tx, {
            ...{ kind: 'schedule_makegood', workspaceId, subjectType: 'makegoods', subjectId, now },
            ...{ subjectVersion: version, input: {} },
          }),
      };
    },

    'makegood.record_line_item': ({ current, changes, subjectId, reason }) => ({
      attributes: { ...current, ...changes },
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'makegood.fail_schedule': ({ current, changes, subjectId, reason }) => ({
      attributes: { ...current, ...changes },
      also: (tx) => finishJob(tx, subjectId, reason),
    }),

    'makegood.fulfil': ({ current, changes }) => {
      if (changes.confirmed < current.units)
        throw new Problem('state_not_allowed', 'Its line item has not delivered the units yet.');
      return { attributes: { ...current, ...changes } };
    },

    'makegood.expire': ({ current, changes }) => {
      if (current.line_item_id === undefined) throw new Problem('state_not_allowed', 'Its line item is not there yet.');
      return { attributes: { ...current, ...changes } };
    },
  };
};
