import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { decodeJwt } from 'jose';
import { makegoodLine, scheduledFor } from './_examples-makegoods.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { hour, media, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const eur = (units: number) => ({ amount_micros: String(units * 1_000_000), currency: 'EUR' });

/** A draft under a product, with an approved creative of 24 ms that is produced. */
async function draft(world: World, product: ResourceView, given: Record<string, unknown> = {}) {
  const changes = world.lineItemChanges((await world.activeCampaign()).id);
  const lineItem = await world.send('line_item.create', null, { ...changes, product_id: product.id, ...given });
  const assignment = await world.assign(lineItem, await world.creativeOf(lineItem));
  await world.send('creative_assignment.activate', assignment, {});
  return lineItem;
}

/** A creative that a host reads, of the advertiser of a line item, without media. */
async function hostRead(world: World, lineItem: ResourceView) {
  const { advertiser_id } = (await world.creativeOf(lineItem)).attributes;
  return world.send('creative.create', null, {
    ...{ advertiser_id, name: 'By the host', format: 'audio', production: 'host_read', universal_ad_id: 'unknown' },
  });
}

/** The creative with media of 24 ms. */
async function prepared(world: World, creative: ResourceView) {
  const { version } = await world.send('creative.attach_media', creative, { upload_ref: (await world.upload()).id });
  const lease = await world.lease('encode_creative', creative.id);
  const found = { media: [media], duration_ms: 24 };
  return world.send('creative.record_media', { ...creative, version }, found, service('encoder'), lease);
}

/** What the receipt of the last command about a subject says that it was decided by. */
async function decidedBy({ id }: ResourceView, claim = 'decided_by'): Promise<unknown> {
  const { rows } = await management.pool.query<{ jws: string }>(
    `select jws from receipt where id = (
       select receipt_id from operation where subject_id = $1 order by created_at desc, id desc limit 1)`,
    [id],
  );
  return decodeJwt(rows[0]!.jws)[claim];
}

const named = ({ resource_type: type, id, version }: ResourceView) => ({ type, id, version });

describe('a line item of a product', () => {
  test('is booked within its terms, and the receipt names product and rate card with their versions', async () => {
    const world = createWorld(management);
    const rateCard = await world.publishedRateCard();
    const product = await world.publishedProduct({ rate_card_id: rateCard.id });
    const approved = await world.send('line_item.submit', await draft(world, product), {});
    const booked = await world.send('line_item.book', approved, {});
    expect(booked.lifecycle_state).toBe('booked');
    expect(await decidedBy(booked)).toEqual([named(product), named(rateCard)]);
  });

  test.each([
    ['a price below the rate card', { rate: { model: 'cpm', price: eur(14) } }, {}, 'below_rate_card'],
    ['a model without a price', { rate: { model: 'flat', price: eur(900) } }, {}, 'not_priced'],
    ['positions that are not sold', { break_positions: ['pre', 'mid'] }, {}, 'other_positions'],
    ['delivery that is not sold', { type: 'house', rate: { model: 'none' } }, {}, 'other_delivery'],
    ['a flight that is too short', {}, { min_flight_days: 3 }, 'other_length'],
    ['a flight that is too long', {}, { max_flight_days: 1 }, 'other_length'],
  ])('is refused for %s', async (_, given, terms, code) => {
    const world = createWorld(management);
    const lineItem = await draft(world, await world.publishedProduct(terms), given);
    const { code: problem, context } = await refusalOf(world.send('line_item.submit', lineItem, {}));
    expect(problem).toBe('line_item_not_bookable');
    expect(context.errors?.map((error) => error.code)).toContain(code);
  });

  test('gets no creative after its booking that its price does not cover, also when the card was withdrawn since', async () => {
    const world = createWorld(management);
    const rateCard = await world.publishedRateCard();
    const product = await world.publishedProduct({ rate_card_id: rateCard.id });
    const approved = await world.send('line_item.submit', await draft(world, product), {});
    const booked = await world.send('line_item.book', approved, {});
    const fitting = await world.creativeOf(booked);
    const dearer = await hostRead(world, booked);
    const refusedFor = async () =>
      (await refusalOf(world.assign(booked, dearer))).context.errors?.map(({ code }) => code);
    expect(await refusedFor()).toEqual(['length_unknown']);
    await prepared(world, dearer);
    for (const withdrawn of [false, true]) {
      if (withdrawn) await world.send('rate_card.withdraw', rateCard, { cause: 'New prices.' });
      expect(await refusedFor()).toEqual(['below_rate_card']);
      expect((await world.assign(booked, fitting)).lifecycle_state).toBe('draft');
    }
  });

  test('keeps to its price when an amendment waits: what is added to it must fit now and then', async () => {
    const world = createWorld(management);
    const product = await world.publishedProduct();
    const at = (units: number) => ({ rate: { model: 'cpm', price: eur(units) } });
    const approved = await world.send('line_item.submit', await draft(world, product, at(30)), {});
    const booked = await world.send('line_item.book', approved, {});
    const later = { effective_at: new Date(Date.now() + hour).toISOString() };
    const cheaper = await world.send('line_item.amend', booked, { ...at(20), ...later });
    const dearer = await prepared(world, await hostRead(world, booked));
    const errors = async (attempt: Promise<unknown>) =>
      (await refusalOf(attempt)).context.errors?.map(({ code }) => code);
    expect(await errors(world.assign(booked, dearer))).toEqual(['below_rate_card']);
    const replaced = await world.send('line_item.amend', cheaper, { ...at(25), ...later });
    expect((await world.assign(booked, dearer)).lifecycle_state).toBe('draft');
    expect(await errors(world.send('line_item.amend', replaced, { ...at(24), ...later }))).toEqual(['below_rate_card']);
    expect((await world.send('line_item.amend', replaced, at(27))).attributes).toMatchObject(at(27));
  });

  test('is a makegood at no price, in the positions that the product sells', async () => {
    const world = createWorld(management);
    const product = await world.publishedProduct();
    const original = await draft(world, product, { goal: { unit: 'impressions', quantity: 1_000 } });
    const booked = await world.send('line_item.book', await world.send('line_item.submit', original, {}), {});
    await world.planned(booked.id);
    const delivering = await world.send('line_item.start_flight', booked, {}, service('management'));
    const short = await world.send('line_item.stop', delivering, { cause: 'The show ended.' }, service('operator'));
    const sold = { product_id: product.id };
    const makegood = await makegoodLine(world, await scheduledFor(world, short, 600), short, sold);
    const both = await world.send('line_item.revise', makegood, { break_positions: ['pre', 'mid'] });
    const elsewhere = await refusalOf(world.sold(both));
    expect(elsewhere.context.errors?.map(({ code }) => code)).toEqual(['other_positions']);
    const right = await world.send('line_item.revise', both, { break_positions: ['pre'] });
    expect((await world.sold(right)).lineItem.lifecycle_state).toBe('booked');
  });

  test('is not extended beyond the flights that its product sells', async () => {
    const world = createWorld(management);
    const product = await world.publishedProduct({ max_flight_days: 2 });
    const approved = await world.send('line_item.submit', await draft(world, product), {});
    const booked = await world.send('line_item.book', approved, {});
    const end = new Date(Date.now() + 72 * hour).toISOString();
    const { code, context } = await refusalOf(world.send('line_item.extend', booked, { end, cause: 'more time' }));
    expect([code, context.errors?.map((error) => error.code)]).toEqual(['line_item_not_bookable', ['other_length']]);
  });

  test('targets inventory of the product, and nothing else', async () => {
    const world = createWorld(management);
    const [sold, other] = [await world.activeUnit(), await world.activeUnit()];
    const product = await world.publishedProduct({ inventory_unit_ids: [sold.id] });
    const targeted = async (targeting: unknown) =>
      world.send('line_item.submit', await draft(world, product, { targeting }), {});
    for (const targeting of [{}, { inventory: { include: [sold.id, other.id] } }])
      expect((await refusalOf(targeted(targeting))).context.errors).toMatchObject([{ code: 'other_inventory' }]);
    expect((await targeted({ inventory: { include: [sold.id] } })).lifecycle_state).toBe('approved');
    const podcastId = (sold.attributes['source_ref'] as { podcast_id: string }).podcast_id;
    expect((await targeted({ podcasts: { include: [podcastId] } })).lifecycle_state).toBe('approved');
  });

  test('is refused when product or rate card is not published, and when the card prices another time', async () => {
    const world = createWorld(management);
    const lineItem = await draft(world, await world.product());
    expect((await refusalOf(world.send('line_item.submit', lineItem, {}))).message).toContain('product');
    const rateCard = await world.publishedRateCard();
    const sold = await draft(world, await world.publishedProduct({ rate_card_id: rateCard.id }));
    const approved = await world.send('line_item.submit', sold, {});
    await world.send('rate_card.withdraw', rateCard, { cause: 'New prices.' });
    expect((await refusalOf(world.send('line_item.book', approved, {}))).message).toContain('rate card');
    const old = { start: '2020-01-01T00:00:00Z', end: '2021-01-01T00:00:00Z' };
    const expired = await world.publishedRateCard({ valid_window: old });
    const late = await draft(world, await world.publishedProduct({ rate_card_id: expired.id }));
    expect((await refusalOf(world.send('line_item.submit', late, {}))).context.errors).toMatchObject([
      { path: '/attributes/window/start', code: 'not_priced' },
    ]);
  });

  test('is not amended below the rate card once it is booked', async () => {
    const world = createWorld(management);
    const approved = await world.send('line_item.submit', await draft(world, await world.publishedProduct()), {});
    const booked = await world.send('line_item.book', approved, {});
    const amend = (units: number) =>
      world.send('line_item.amend', booked, { rate: { model: 'cpm', price: eur(units) } });
    expect((await refusalOf(amend(10))).code).toBe('line_item_not_bookable');
    expect((await amend(16)).attributes['rate']).toEqual({ model: 'cpm', price: eur(16) });
  });
});

test('a product is published with a published rate card only, and prices are in the currency of the workspace', async () => {
  const world = createWorld(management);
  const product = await world.product({ rate_card_id: (await world.rateCard()).id });
  await expect(world.publishedProduct(product.attributes)).rejects.toMatchObject({ code: 'link_not_found' });
  const twice = [0, 1].map(() => world.rateCardChanges().entries[0]);
  await expect(world.rateCard({ entries: twice })).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(world.product({ min_flight_days: 3, max_flight_days: 2 })).rejects.toMatchObject({
    code: 'validation_failed',
  });
});

test('a break plan is published for surfaces that are served now, and the receipt names the version of their capability', async () => {
  const world = createWorld(management);
  const published = await world.publishedBreakPlan();
  expect(await decidedBy(published)).toEqual([{ type: 'surface_capabilities', id: 'progressive', version: 2 }]);
  const { breaks } = published.attributes;
  const plan = await world.send('break_plan.create', null, {
    name: 'Video',
    breaks,
    surfaces: ['progressive', 'video'],
  });
  expect((await refusalOf(world.send('break_plan.publish', plan, {}))).code).toBe('capability_not_supported');
});

describe('a measurement policy', () => {
  const policy = (world: World, rules: Record<string, unknown>) => world.activePolicy({ kind: 'measurement', rules });

  test('gives new line items their counting basis, from its activation until it is superseded', async () => {
    const world = createWorld(management);
    const basisOfNew = async (given = {}) =>
      (
        await world.send('line_item.create', null, {
          ...world.lineItemChanges((await world.activeCampaign()).id),
          ...given,
        })
      ).attributes['counting_basis'];
    expect(await basisOfNew()).toBe('ad_delivered');
    await policy(world, { default_counting_basis: 'served_bytes' });
    expect(await basisOfNew()).toBe('served_bytes');
    expect(await basisOfNew({ counting_basis: 'reserved' })).toBe('reserved');
    management.aheadMs += hour;
    await policy(world, { allowed_counting_bases: ['ad_delivered'] });
    expect(await basisOfNew()).toBe('ad_delivered');
  });

  test('refuses to sell by another basis, with its id in the refusal and in the receipts of what it allows', async () => {
    const world = createWorld(management);
    const { id, version } = await policy(world, { allowed_counting_bases: ['ad_delivered', 'reserved'] });
    const product = await world.publishedProduct();
    const refused = await refusalOf(
      world.send('line_item.submit', await draft(world, product, { counting_basis: 'client_event' }), {}),
    );
    expect(refused).toMatchObject({ code: 'policy_rejected', message: expect.stringContaining(id) });
    const approved = await world.send('line_item.submit', await draft(world, product), {});
    expect(await decidedBy(approved, 'policy_versions')).toEqual([{ id, version }]);
  });
});
