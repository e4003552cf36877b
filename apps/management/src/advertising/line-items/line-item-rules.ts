import type { productCatalog, CommandWithRule } from '@longwave/command-catalog';
import {
  findResource,
  holdResource,
  listLinked,
  lockResource,
  type RuleInput,
  type Rules,
} from '@longwave/command-pipeline';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { openCampaignStates } from '../campaigns/campaign.ts';
import { prepareBudget } from '../campaigns/prepare-budget.ts';
import type { SumUnitCosts } from '../campaigns/sum-unit-costs.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireCurrency } from '../../workspace/require-currency.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { requireProductTerms } from '../products/require-product.ts';
import { countChargeChanges } from '../../commerce/billing/flight-history-table.ts';
import { assertSettled } from '../../commerce/billing/billing-statement-rules.ts';
import type { CheckAvailability } from '../../commerce/forecasts/check-availability.ts';
import { prepareAvailability, type FoundAvailability } from '../../commerce/forecasts/require-availability.ts';
import { assertMakesGood, requireScheduled } from '../../commerce/makegoods/require-scheduled.ts';
import { isPlanned } from '../serving-plans/plan-content-table.ts';
import { defaultCountingBasis, requireCountingBasis } from './counting-basis.ts';
import { goalBasis, type CountConfirmed } from './count-confirmed.ts';
import * as flight from './line-item.ts';
import type { LineItem } from './line-item.ts';
import { raisingBookings } from './raise-bookings.ts';
import { requireFreeIds } from './require-free-ids.ts';
import { requireFloor } from './require-floor.ts';
import { requireTargeted } from './require-targeted.ts';

type Catalog = typeof productCatalog;
type LineItemRules = Pick<Rules<Catalog>, Extract<CommandWithRule<Catalog>, `line_item.${string}`>>;

/** Counts the creatives of a line item by the states of assignment and creative. */
async function countCreatives(
  tx: Transaction,
  workspaceId: string,
  lineItemId: string,
  states: { readonly assignment: readonly string[]; readonly creative: readonly string[] },
): Promise<number> {
  let count = 0;
  for (const assignment of await listLinked(tx, workspaceId, 'creative_assignments', 'line_item', lineItemId)) {
    if (!states.assignment.includes(assignment.lifecycle_state)) continue;
    const creative = await findResource(tx, workspaceId, 'creatives', assignment.attributes.creative_id);
    if (creative && states.creative.includes(creative.lifecycle_state)) count++;
  }
  return count;
}

const changedMeanwhile = () => new Problem('state_not_allowed', 'The line item has just changed. Try again.');
const refuse = (detail: string) => new Problem('line_item_not_bookable', detail);

/** Throws for a window that has ended. */
function checkAhead({ window }: Readonly<LineItem>, now: Date): void {
  if (Date.parse(window.end) <= now.getTime()) throw refuse('The window is in the past.');
}

async function campaignOf(
  db: Transaction | Pool,
  workspaceId: string,
  { campaign_id: id }: Pick<LineItem, 'campaign_id'>,
) {
  const campaign = await findResource(db, workspaceId, 'campaigns', id);
  const { window, advertiser_id: advertiserId } = campaign!.attributes;
  return { state: campaign!.lifecycle_state, window, advertiserId };
}

/** Throws unless the same advertiser has bought the line item that is made good: a makegood may be booked without a price. */
async function checkMakegood(
  tx: Transaction,
  workspaceId: string,
  makegoodOf: string | undefined,
  advertiserId: string,
): Promise<void> {
  if (makegoodOf === undefined) return;
  const path = '/changes/makegood_of';
  const ids = [makegoodOf];
  const [lineItem] = await requireResources(tx, {
    workspaceId,
    type: 'line_items',
    ids,
    path,
    unless: flight.unsoldStates,
  });
  const campaign = await campaignOf(tx, workspaceId, lineItem!.attributes);
  if (campaign.advertiserId !== advertiserId)
    refuseField(path, 'other_advertiser', 'A makegood makes good what the same advertiser has bought.');
}

type Named = Partial<Pick<LineItem, 'targeting' | 'rate' | 'external_ids'>>;

/** Throws unless the resources that the changes name exist and may be combined, and external ids are free. */
async function check(
  { tx, workspaceId, subjectId: lineItemId }: Pick<RuleInput<LineItem, unknown>, 'tx' | 'workspaceId' | 'subjectId'>,
  { targeting, rate, external_ids: ids }: { readonly [K in keyof Named]?: Named[K] | undefined },
): Promise<void> {
  await requireCurrency(tx, workspaceId, rate?.price, '/changes/rate/price');
  await requireTargeted(tx, workspaceId, targeting, '/changes/targeting');
  await requireFreeIds(tx, { workspaceId, lineItemId }, ids);
}

/** Checks product, prices and counting basis before a line item is sold; answers what decided, for the receipt. */
async function requireTerms(tx: Transaction, workspaceId: string, lineItemId: string, lineItem: LineItem) {
  const policyVersions = await requireCountingBasis(tx, workspaceId, lineItem.counting_basis);
  return { policyVersions, decidedBy: await requireProductTerms(tx, workspaceId, lineItemId, lineItem) };
}

/** Rules of line items before delivery: drafts, reviews, reservations and bookings. */
const draftRules = {
  'line_item.create': async ({ tx, workspaceId, subjectId, actor, changes }) => {
    flight.checkLineItem(changes);
    flight.checkRate(changes);
    await holdResource(tx, workspaceId, 'campaigns', changes.campaign_id);
    const unless = ['completed', 'cancelled', 'archived'];
    const ids = [changes.campaign_id];
    await requireResources(tx, { workspaceId, type: 'campaigns', ids, path: '/changes/campaign_id', unless });
    await check({ tx, workspaceId, subjectId }, changes);
    const campaign = await campaignOf(tx, workspaceId, changes);
    flight.checkWindow(changes.window, campaign.window);
    await requireScheduled({ tx, workspaceId, actor }, changes);
    await checkMakegood(tx, workspaceId, changes.makegood_of, campaign.advertiserId);
    const basis = changes.counting_basis ?? (await defaultCountingBasis(tx, workspaceId));
    return { attributes: { ...changes, counting_basis: basis } };
  },

  'line_item.revise': async ({ tx, workspaceId, subjectId, current, changes }) => {
    const attributes = { ...current, ...changes };
    flight.checkLineItem(attributes);
    assertMakesGood(current, changes);
    if (changes.rate ?? changes.type) flight.checkRate(attributes);
    await check({ tx, workspaceId, subjectId }, changes);
    if (changes.window) flight.checkWindow(changes.window, (await campaignOf(tx, workspaceId, current)).window);
    return { attributes };
  },

  'line_item.set_external_ids': async ({ tx, workspaceId, subjectId, current, changes }) => {
    await check({ tx, workspaceId, subjectId }, changes);
    return { attributes: { ...current, ...changes } };
  },

  'line_item.submit': async ({ tx, workspaceId, subjectId, current, now }) => {
    checkAhead(current, now);
    const creatives = await countCreatives(tx, workspaceId, subjectId, {
      assignment: ['draft', 'active'],
      creative: ['approved', 'pending_review'],
    });
    if (current.type !== 'exclusive' && creatives === 0) throw refuse('Assign an approved or pending creative first.');
    return { attributes: current, ...(await requireTerms(tx, workspaceId, subjectId, current)) };
  },

  'line_item.release_reservation': ({ current }) => ({ attributes: flight.unreserved(current) }),

  'line_item.expire_reservation': ({ current, now }) => ({ attributes: flight.expired(current, now) }),

  'line_item.reset': ({ current }) => ({ attributes: flight.reset(current) }),
} satisfies Partial<LineItemRules>;

/** What is decided when a line item is sold: it carries what it was told of its availability. */
const sold = (
  lineItem: LineItem,
  { availability, policyVersions, shown }: FoundAvailability = { policyVersions: [] },
) => ({
  attributes: availability ? { ...lineItem, availability } : lineItem,
  policyVersions,
  ...(shown && { shown }),
});

/** Rules by which slots are promised: they ask outside how many are left. */
const sellingRules = (options: LineItemOptions) => {
  const prepare = (workspaceId: string, id: string, lineItem: LineItem | undefined) =>
    lineItem && prepareAvailability(options, { workspaceId, id, lineItem, now: options.clock() });
  /** Makes what throws for a line item as it is to be sold whose campaign has a budget that could not be kept. */
  const prepareCheck = async (workspaceId: string, id: string, lineItem: LineItem | undefined) => {
    const findIssue = await prepareBudget(options, { workspaceId, id, ...(lineItem && { lineItem }) });
    return async (tx: Transaction, attributes: LineItem) => {
      const issue = await findIssue(tx, attributes);
      if (issue) throw refuse(issue);
    };
  };
  return {
    'line_item.reserve': {
      prepare: async ({ workspaceId, subjectId, current }) => {
        const requireAvailability = await prepare(workspaceId, subjectId, current);
        return async ({ tx, current: locked, changes, approved, reviewedVersion, now }) => {
          const attributes = flight.reserved(locked, changes.expires_at, now);
          const found = await requireAvailability!(
            { tx, workspaceId, approved, reviewedVersion, now },
            changes.allow_overbook === true,
          );
          return sold(attributes, found);
        };
      },
    },

    'line_item.book': {
      prepare: async ({ workspaceId, subjectId, current, state }) => {
        // A reservation holds what was left, unless that was unknown.
        const isHeld = state === 'reserved' && current?.availability?.learning !== true;
        const asked = isHeld ? undefined : current;
        const requireAvailability = await prepare(workspaceId, subjectId, asked);
        const checkBudget = await prepareCheck(workspaceId, subjectId, current);
        return async ({ tx, current: locked, state: lockedState, changes, approved, reviewedVersion, now }) => {
          if (lockedState !== state) throw changedMeanwhile();
          checkAhead(locked, now);
          // As `checkBudget` locks it: two who had it for share would wait for each other.
          await lockResource(tx, workspaceId, 'campaigns', locked.campaign_id);
          const campaign = await campaignOf(tx, workspaceId, locked);
          if (!['approved', 'active'].includes(campaign.state)) throw refuse('Approve the campaign first.');
          if (locked.rate.model === 'none' && locked.type !== 'house' && locked.makegood_of === undefined)
            throw refuse('Only house line items and makegoods have no price. Set a rate first.');
          const states = { assignment: ['active'], creative: ['approved'] };
          if ((await countCreatives(tx, workspaceId, subjectId, states)) === 0)
            throw refuse('Activate the assignment of an approved creative first.');
          await checkBudget(tx, locked);
          const terms = await requireTerms(tx, workspaceId, subjectId, locked);
          if (changes.allow_below_floor !== true) await requireFloor(tx, workspaceId, locked);
          const found = await requireAvailability?.(
            { tx, workspaceId, approved, reviewedVersion, now },
            changes.allow_overbook === true,
          );
          const decided = sold(flight.unreserved(locked), found);
          return { ...terms, ...decided, policyVersions: [...terms.policyVersions, ...decided.policyVersions] };
        };
      },
    },

    'line_item.amend': {
      prepare: async ({ workspaceId, subjectId, current, changes: asked }) => {
        const { proposed } = flight.proposal(asked);
        const grown = current && flight.asksForMore(current, proposed) ? flight.amended(current, proposed) : undefined;
        const requireAvailability = await prepare(workspaceId, subjectId, grown);
        const checkBudget = await prepareCheck(workspaceId, subjectId, current && flight.amended(current, proposed));
        return async ({ tx, current: locked, changes: requested, approved, reviewedVersion, now }) => {
          const { proposed: changes, effective_at: at, allow_overbook, allow_below_floor } = flight.proposal(requested);
          const amended = flight.amended(locked, changes);
          assertMakesGood(locked, changes);
          if (changes.rate) flight.checkRate(amended);
          flight.checkCurrency(locked, changes);
          const isNow = at === undefined || Date.parse(at) <= now.getTime();
          // An amendment for later takes the place of the one that waits.
          const attributes = isNow ? amended : { ...locked, amendment: { ...changes, effective_at: at } };
          if (changes.rate ?? changes.goal ?? changes.window) await checkBudget(tx, attributes);
          if (flight.chargesOtherwise(locked, amended))
            flight.checkFewPrices(await countChargeChanges(tx, subjectId), changes);
          await check({ tx, workspaceId, subjectId }, changes);
          if (changes.window) {
            const campaign = await campaignOf(tx, workspaceId, locked);
            flight.checkWindow(changes.window, campaign.window);
            flight.checkOpen(changes.window, now);
          }
          const { amendment: _replaced, ...later } = amended;
          const decidedBy = await requireProductTerms(tx, workspaceId, subjectId, isNow ? amended : later);
          if ((changes.rate ?? changes.targeting) && allow_below_floor !== true)
            for (const one of [later, isNow && flight.afterAmendment(amended)])
              if (one) await requireFloor(tx, workspaceId, one);
          const found = await requireAvailability?.(
            { tx, workspaceId, approved, reviewedVersion, now },
            allow_overbook === true,
          );
          return { decidedBy, ...sold(attributes, found) };
        };
      },
    },

    'line_item.extend': {
      prepare: async ({ workspaceId, subjectId, current, changes: { end } }) => {
        const longer = current && { ...current, window: { ...current.window, end } };
        const requireAvailability = await prepare(workspaceId, subjectId, longer);
        const checkBudget = await prepareCheck(workspaceId, subjectId, longer);
        return async ({ tx, current: locked, changes, approved, reviewedVersion, now }) => {
          const { end: until, cause: extensionCause, allow_overbook } = changes;
          const campaign = await campaignOf(tx, workspaceId, locked);
          const attributes = flight.extended(locked, { end: until, extensionCause }, campaign.window, now);
          await checkBudget(tx, attributes);
          const decidedBy = await requireProductTerms(tx, workspaceId, subjectId, attributes);
          const found = await requireAvailability!(
            { tx, workspaceId, approved, reviewedVersion, now },
            allow_overbook === true,
          );
          return { decidedBy, ...sold(attributes, found) };
        };
      },
    },

    'line_item.set_priority': {
      prepare: async ({ workspaceId, subjectId, current, changes: { priority } }) => {
        // Priority 1 goes before priority 10.
        const sooner = current && priority < current.priority ? { ...current, priority } : undefined;
        const requireAvailability = await prepare(workspaceId, subjectId, sooner);
        return async ({ tx, current: locked, changes, approved, reviewedVersion, now }) => {
          const found = await requireAvailability?.(
            { tx, workspaceId, approved, reviewedVersion, now },
            changes.allow_overbook === true,
          );
          return sold({ ...locked, priority }, found);
        };
      },
    },
  } satisfies Partial<LineItemRules>;
};

/** Rules of booked line items. */
const flightRules = (pool: Pool, countConfirmed: CountConfirmed) =>
  ({
    'line_item.apply_amendment': ({ current, now }) => ({ attributes: flight.withDueAmendment(current, now) }),

    'line_item.start_flight': async ({ tx, workspaceId, subjectId, current, now }) => {
      flight.checkStart(current, now);
      const campaign = await campaignOf(tx, workspaceId, current);
      if (campaign.state !== 'active') throw new Problem('state_not_allowed', 'The campaign is not active.');
      if (!(await isPlanned(tx, workspaceId, subjectId, now)))
        throw new Problem('state_not_allowed', 'No published serving plan contains the line item.');
      return { attributes: current };
    },

    'line_item.end_flight': {
      prepare: async ({ workspaceId, subjectId, current }) => {
        const matters = current?.auto_extend === true && flight.countedUnits.includes(current.goal.unit);
        const delivered = matters ? await countConfirmed(workspaceId, subjectId, goalBasis(current)) : undefined;
        return async ({ tx, current: locked, state, now }) => {
          const campaign = await campaignOf(tx, workspaceId, locked);
          return flight.endFlight(locked, { state, campaign: campaign.window, delivered, now });
        };
      },
    },

    'line_item.complete': ({ current, changes }) => ({ attributes: flight.completed(current, changes.delivered) }),

    'line_item.pause': ({ current, state }) => ({ attributes: flight.paused(current, state) }),

    'line_item.resume': async ({ tx, workspaceId, current, now }) => {
      await holdResource(tx, workspaceId, 'campaigns', current.campaign_id);
      const campaign = await campaignOf(tx, workspaceId, current);
      if (!openCampaignStates.includes(campaign.state))
        throw new Problem('state_not_allowed', `The campaign is ${campaign.state}.`);
      return flight.resumed(current, campaign.window, now);
    },

    'line_item.stop': {
      prepare: async ({ workspaceId, subjectId, current, state }) => {
        const isEarly = state === 'paused' && current?.paused_from === 'booked';
        const delivered = isEarly ? await countConfirmed(workspaceId, subjectId, 'ad_delivered') : 0;
        return ({ current: found, state: locked, now }) => {
          if (locked !== state) throw changedMeanwhile();
          return { attributes: flight.stopped(found, { state: locked, delivered, now }) };
        };
      },
    },

    'line_item.archive': async ({ tx, workspaceId, subjectId, current }) => {
      await assertSettled(tx, workspaceId, { id: subjectId, campaignId: current.campaign_id });
      return { attributes: current };
    },

    'line_item.cancel': {
      prepare: async ({ workspaceId, subjectId, state }) => {
        const mayHaveServed = state === 'booked' || state === 'paused';
        const delivered = mayHaveServed ? await countConfirmed(workspaceId, subjectId, 'ad_delivered') : 0;
        return ({ current, state: locked, now }) => {
          if (locked !== state) throw changedMeanwhile();
          return { attributes: flight.cancelled(current, { state: locked, delivered, now }) };
        };
      },
    },
  }) satisfies Partial<LineItemRules>;

interface LineItemOptions {
  readonly pool: Pool;
  readonly countConfirmed: CountConfirmed;
  readonly checkAvailability: CheckAvailability;
  readonly sumUnitCosts: SumUnitCosts;
  readonly clock: () => Date;
}

/** Rules of the line item commands; those that change what is sold say so. */
export const lineItemRules = (options: LineItemOptions): LineItemRules => {
  const rules = { ...draftRules, ...sellingRules(options), ...flightRules(options.pool, options.countConfirmed) };
  return {
    ...rules,
    'line_item.reserve': raisingBookings(rules['line_item.reserve']),
    'line_item.release_reservation': raisingBookings(rules['line_item.release_reservation']),
    'line_item.expire_reservation': raisingBookings(rules['line_item.expire_reservation']),
    'line_item.reset': raisingBookings(rules['line_item.reset']),
    'line_item.book': raisingBookings(rules['line_item.book']),
    'line_item.amend': raisingBookings(rules['line_item.amend']),
    'line_item.apply_amendment': raisingBookings(rules['line_item.apply_amendment']),
    'line_item.end_flight': raisingBookings(rules['line_item.end_flight']),
    'line_item.complete': raisingBookings(rules['line_item.complete']),
    'line_item.extend': raisingBookings(rules['line_item.extend']),
    'line_item.set_priority': raisingBookings(rules['line_item.set_priority']),
    'line_item.stop': raisingBookings(rules['line_item.stop']),
    'line_item.cancel': raisingBookings(rules['line_item.cancel']),
  };
};
