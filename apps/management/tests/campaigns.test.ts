import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import { startJobRunner } from '../src/background/job-runner.ts';
import { readFixedMicros } from '../src/advertising/campaigns/campaign-budget.ts';
import { createCloneHandler } from '../src/advertising/campaigns/clone-campaign.ts';
import { startFollowed, type Followed } from './_followed.ts';
import { refusalOf } from './_management.ts';
import { hour, service, window } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let followed: Followed;
let management: Followed['management'];
beforeAll(async () => {
  followed = await startFollowed();
  ({ management } = followed);
});
afterAll(async () => followed?.[Symbol.asyncDispose]());

const cause = 'The customer went out of business.';
const stateOf = async (id: string) => (await followed.read(id)).lifecycle_state;
const operations = async (subjectId: string, command: string) =>
  (
    await management.pool.query<{ state: string }>(
      'select state from operation where subject_id = $1 and command_type = $2',
      [subjectId, command],
    )
  ).rows.map(({ state }) => state);
async function lineItemOf(world: World, campaign: ResourceView, changes: object = {}) {
  const lineItem = await world.send('line_item.create', null, { ...world.lineItemChanges(campaign.id), ...changes });
  const assignment = await world.assign(lineItem, await world.creativeOf(lineItem));
  await world.send('creative_assignment.activate', assignment, {});
  return lineItem;
}
/** Waits until this number of the database's transactions wait for a lock. */
const untilWaiting = (transactions: number) =>
  until(async () => {
    const { rows } = await management.pool.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]!.n >= transactions;
  });
const booked = async (world: World, lineItem: ResourceView) =>
  world.send('line_item.book', await world.send('line_item.submit', lineItem, {}), {});

test('a cancelled campaign cancels line items that have not begun and stops those that have; its operation succeeds when all have ended', async () => {
  const world = createWorld(management);
  const campaign = await world.activeCampaign();
  const draft = await lineItemOf(world, campaign);
  const waiting = await booked(world, await lineItemOf(world, campaign));
  const flying = await booked(world, await lineItemOf(world, campaign));
  await world.planned(flying.id);
  await world.send('line_item.start_flight', flying, {}, service('management'));
  const served = await booked(world, await lineItemOf(world, campaign));
  management.delivered.set(served.id, 1);
  await world.send('campaign.cancel', campaign, { cause }, service('operator'));
  await followed.until(campaign.id, ({ version }) => version === campaign.version + 2);
  expect(await Promise.all([draft, waiting, flying, served].map(({ id }) => stateOf(id)))).toEqual([
    'cancelled',
    'cancelled',
    'stopped',
    'stopped',
  ]);
  expect((await followed.read(flying.id)).attributes['state_reason']).toBe(cause);
  expect(await operations(campaign.id, 'campaign.cancel')).toEqual(['succeeded']);
});

test('a cancelled campaign leaves no line item open, neither one that delivered before its start was postponed nor one that is created or booked meanwhile', async () => {
  const world = createWorld(management);
  const campaign = await world.activeCampaign();
  const lineItem = await booked(world, await lineItemOf(world, campaign));
  management.delivered.set(lineItem.id, 1);
  const inAnHour = new Date(management.clock().getTime() + hour).toISOString();
  const putOff = { window: { start: inAnHour, end: (lineItem.attributes['window'] as { end: string }).end } };
  await world.send('line_item.amend', lineItem, putOff);
  const approved = await world.send('line_item.submit', await lineItemOf(world, campaign), {});

  const held = await management.pool.connect();
  try {
    await held.query('begin');
    await held.query('select from resource where id = $1 for update', [campaign.id]);
    const late = Promise.allSettled([
      world.send('line_item.create', null, world.lineItemChanges(campaign.id)),
      world.send('line_item.book', approved, {}),
    ]);
    await untilWaiting(2);
    await held.query(`update resource set lifecycle_state = 'cancelled' where id = $1`, [campaign.id]);
    await held.query('commit');
    expect((await late).map(({ status, ...rest }) => ('reason' in rest ? rest.reason.code : status))).toEqual([
      'link_not_found',
      'line_item_not_bookable',
    ]);
  } finally {
    held.release();
  }
  await management.pool.query(`update resource set lifecycle_state = 'active' where id = $1`, [campaign.id]);
  await world.send('campaign.cancel', campaign, { cause }, service('operator'));
  await followed.until(campaign.id, ({ version }) => version === campaign.version + 2);
  expect(await Promise.all([lineItem, approved].map(({ id }) => stateOf(id)))).toEqual(['stopped', 'cancelled']);
});

test('a line item that was paused before its start is stopped if it has delivered, and never resumed in an ended campaign', async () => {
  const world = createWorld(management);
  const now = management.clock().getTime();
  const later = { start: new Date(now + hour).toISOString(), end: new Date(now + 2 * hour).toISOString() };
  const { lineItem } = await world.booked({ window: later });
  const paused = await world.send('line_item.pause', lineItem, { cause });
  management.delivered.set(lineItem.id, 1);
  const operator = service('operator');
  await expect(world.send('line_item.cancel', paused, { cause })).rejects.toMatchObject({ code: 'state_not_allowed' });
  expect(await world.send('line_item.stop', paused, { cause }, operator)).toMatchObject({ lifecycle_state: 'stopped' });
  const other = await world.booked({ window: later });
  const waiting = await world.send('line_item.pause', other.lineItem, { cause });
  await management.pool.query(`update resource set lifecycle_state = 'cancelled' where id = $1`, [other.campaign.id]);
  await expect(world.send('line_item.resume', waiting, { cause })).rejects.toMatchObject({ code: 'state_not_allowed' });
});

test('a campaign is completed, and its advertiser archived, only when nothing below them is open', async () => {
  const world = createWorld(management);
  const campaign = await world.activeCampaign();
  const lineItem = await lineItemOf(world, campaign);
  await expect(world.send('campaign.complete', campaign, {})).rejects.toMatchObject({ code: 'still_in_use' });
  await world.send('line_item.cancel', lineItem, { cause });
  const advertiser = await followed.read(String(campaign.attributes['advertiser_id']));
  const subject = {
    resource_type: 'advertisers',
    id: String(campaign.attributes['advertiser_id']),
    version: advertiser.version,
  };
  await expect(world.send('advertiser.archive', subject, {})).rejects.toMatchObject({ code: 'still_in_use' });
  await world.send('campaign.complete', campaign, {});
  expect((await world.send('advertiser.archive', subject, {})).lifecycle_state).toBe('archived');
  await expect(
    world.send('campaign.create', null, { advertiser_id: subject.id, name: 'Late', window }),
  ).rejects.toMatchObject({ code: 'link_not_found' });
});

test('a clone is a draft with the line items and assignments of the original, moved to its window; a second attempt copies nothing twice', async () => {
  const world = createWorld(management);
  const { pool, execute } = management;
  const campaign = await world.activeCampaign();
  const lineItem = await booked(world, await lineItemOf(world, campaign, { frequency_caps: [], weight: 7 }));
  const cancelled = await lineItemOf(world, campaign);
  await world.send('line_item.cancel', cancelled, { cause });
  const refused = await world.creativeOf(lineItem);
  await world.assign(lineItem, refused);
  await world.send('creative.reject', refused, { cause }, service('operator'));
  const original = campaign.attributes['window'] as { start: string; end: string };
  const later = (instant: string) => new Date(Date.parse(instant) + 5000 * hour).toISOString();
  const clone = { name: 'Winter', window: { start: later(original.start), end: later(original.end) } };
  const asked = await world.send('campaign.clone', campaign, clone);
  await expect(world.send('campaign.clone', asked, clone)).rejects.toMatchObject({ code: 'state_not_allowed' });

  const broken: typeof execute = async (request, actor) => {
    if (request.commandType === 'campaign.complete_clone') throw new Error('the process dies');
    return execute(request, actor);
  };
  const lease = await world.lease('clone_campaign', asked.id);
  const job = (await pool.query('select * from job where id = $1', [lease.job_id])).rows[0];
  await expect(createCloneHandler({ pool, execute: broken }).run(job, new AbortController().signal)).rejects.toThrow();
  await world.send('campaign.revise', asked, { objective: 'Something else' });
  await world.send('line_item.amend', lineItem, { goal: { unit: 'impressions', quantity: 20 } });
  await pool.query(`update job set lease_until = now() - interval '1 second' where id = $1`, [lease.job_id]);
  await using _runner = startJobRunner({
    pool,
    execute,
    handlers: { clone_campaign: createCloneHandler(management) },
    onError: () => undefined,
    pollMs: 20,
  });
  const row = await followed.until(campaign.id, ({ attributes }) => attributes['clone_id'] !== undefined);
  const cloneId = String(row.attributes['clone_id']);
  expect(await operations(campaign.id, 'campaign.clone')).toEqual(['succeeded']);
  expect(await followed.read(cloneId)).toMatchObject({
    lifecycle_state: 'draft',
    attributes: { ...clone, cloned_from: campaign.id, advertiser_id: campaign.attributes['advertiser_id'] },
  });
  const { rows } = await pool.query(
    `select li.lifecycle_state, li.attributes, a.lifecycle_state as assignment, a.attributes as assigned
     from resource li join link l on l.from_id = li.id and l.name = 'campaign'
       join link m on m.to_id = li.id and m.name = 'line_item' join resource a on a.id = m.from_id
     where l.to_id = $1`,
    [cloneId],
  );
  const {
    window: flight,
    availability: _left,
    ...same
  } = lineItem.attributes as { window: { start: string; end: string }; availability?: unknown };
  expect(rows).toEqual([
    {
      lifecycle_state: 'draft',
      attributes: { ...same, campaign_id: cloneId, window: { start: later(flight.start), end: later(flight.end) } },
      assignment: 'active',
      assigned: expect.objectContaining({ weight: 1, position_limits: 'any' }),
    },
  ]);
  const clones = await pool.query(`select 1 from link where to_id = $1 and name = 'cloned_from'`, [campaign.id]);
  expect(clones.rowCount).toBe(1);
});

test('one serving plan is in effect at a time: an earlier one ends when its successor comes into effect, not before', async () => {
  const world = createWorld(management);
  const before = await world.publishedPlan();
  const at = new Date(management.clock().getTime() + hour).toISOString();
  const later = await world.send('serving_plan.publish', await world.readyPlan(at), {});
  await followed.expectToEndInAnHour(world, before, later);
});

test('a rollback publishes the content of the earlier plan again, as a new plan', async () => {
  const world = createWorld(management);
  const { lineItem } = await world.booked();
  const target = await world.planned(lineItem.id);
  const current = await world.publishedPlan();
  await followed.until(target.id, ({ lifecycle_state: state }) => state === 'superseded');
  await expect(world.send('serving_plan.rollback', current, { target_id: current.id, cause })).rejects.toMatchObject({
    code: 'link_not_found',
  });
  await world.send('serving_plan.rollback', current, { target_id: target.id, cause });
  for (;;) {
    const { rows } = await management.pool.query(
      `select lifecycle_state, attributes from resource where workspace_id = $1 and attributes ->> 'republishes' = $2`,
      [world.workspaceId, target.id],
    );
    if (rows.length === 0) continue;
    expect(rows).toEqual([
      { lifecycle_state: 'published', attributes: expect.objectContaining({ digest: target.attributes['digest'] }) },
    ]);
    break;
  }
  expect((await world.send('line_item.start_flight', lineItem, {}, service('management'))).lifecycle_state).toBe(
    'delivering',
  );
});

test('approval fixes what listeners get of a creative, and not its name or categories', async () => {
  const world = createWorld(management);
  const creative = await world.approvedCreative();
  for (const changes of [{ click_url: 'https://tidewater.example/other' }, { production: 'host_read' }])
    await expect(world.send('creative.revise', creative, changes)).rejects.toMatchObject({
      context: { errors: [{ path: `/changes/${Object.keys(changes)[0]}`, code: 'fixed_by_approval' }] },
    });
  const revised = await world.send('creative.revise', creative, { name: 'Ad, later', categories: ['IAB8'] });
  expect(revised.attributes).toMatchObject({ name: 'Ad, later', categories: ['IAB8'] });
  const draft = await world.creative();
  expect((await world.send('creative.revise', draft, { production: 'host_read' })).attributes['production']).toBe(
    'host_read',
  );
});

test('a creative may have a picture of its own, and one that rotates is not archived', async () => {
  const world = createWorld(management);
  const advertiser = await world.advertiser();
  const video = {
    ...{ advertiser_id: advertiser.id, name: 'Ad', format: 'video' },
    ...{ production: 'produced', universal_ad_id: 'unknown' },
  };
  expect((await world.send('creative.create', null, video)).lifecycle_state).toBe('draft');
  const { creative } = await world.booked();
  await expect(world.send('creative.archive', creative, {})).rejects.toMatchObject({ code: 'still_in_use' });
});

test('a line item gets only creatives of its own advertiser that were not rejected, and none after it has ended', async () => {
  const world = createWorld(management);
  const lineItem = await world.lineItem();
  const refusal = (creative: ResourceView) =>
    world.assign(lineItem, creative).then(
      () => 'accepted',
      (error: { context: { errors: { path: string; code: string }[] } }) =>
        error.context.errors.map(({ path, code }) => `${path} ${code}`).join(),
    );
  expect(await refusal(await world.approvedCreative())).toBe('/changes/creative_id other_advertiser');
  expect(await refusal(await createWorld(management).creative())).toBe('/changes/creative_id link_not_found');
  const own = await world.creativeOf(lineItem);
  expect(await refusal(own)).toBe('accepted');
  await world.send('creative.reject', own, { cause }, service('operator'));
  expect(await refusal(own)).toBe('/changes/creative_id link_not_found');
  const other = await world.creativeOf(lineItem);
  await world.send('line_item.cancel', lineItem, { cause });
  expect(await refusal(other)).toBe('/changes/line_item_id link_not_found');
});

test('archiving a creative that an encoder prepares ends that operation and its job', async () => {
  const world = createWorld(management);
  const { creative, lease } = await world.processingCreative();
  await world.send('creative.archive', creative, {});
  expect(await operations(creative.id, 'creative.attach_media')).toEqual(['cancelled']);
  const { rows } = await management.pool.query('select state from job where id = $1', [lease.job_id]);
  expect(rows).toEqual([{ state: 'stopped' }]);
});

describe('the budget of a campaign', () => {
  const eur = (units: number) => ({ amount_micros: String(units * 1_000_000), currency: 'EUR' });
  const unlimited = { type: 'non_guaranteed', goal: { unit: 'unlimited' } };
  const days = { window: { start: '2027-03-01T00:00:00Z', end: '2027-03-11T00:00:00Z' } };

  test('refuses line items with a price for each ad and no goal, which nothing would stop at it, and is refused with them', async () => {
    const world = createWorld(management);
    const bounded = await world.booked();
    const campaign = await world.send('campaign.revise', bounded.campaign, { budget: eur(500) });
    const refusal = await refusalOf(world.booked(unlimited, campaign));
    expect(refusal).toMatchObject({ code: 'line_item_not_bookable', message: expect.stringContaining('no goal') });
    await world.booked({ type: 'non_guaranteed' }, campaign);

    const free = await world.booked(unlimited);
    const { code, context } = await refusalOf(world.send('campaign.revise', free.campaign, { budget: eur(500) }));
    expect(code).toBe('validation_failed');
    expect(context.errors?.map((error) => error.code)).toEqual(['budget_not_kept']);
    const goal = { unit: 'impressions', quantity: 5 };
    const lineItem = await world.send('line_item.amend', free.lineItem, { goal });
    await world.send('campaign.revise', free.campaign, { budget: eur(500) });
    expect((await refusalOf(world.send('line_item.amend', lineItem, { goal: unlimited.goal }))).code).toBe(
      'line_item_not_bookable',
    );
  });

  test('has what flat prices and prices of days cost put aside, and is not oversold by them', async () => {
    const world = createWorld(management);
    const { window } = days;
    const campaign = await world.send('campaign.revise', await world.activeCampaign(), { budget: eur(100), window });
    await world.booked({ ...days, rate: { model: 'flat', price: eur(30) } }, campaign);
    await world.booked({ ...days, rate: { model: 'cpd', price: eur(2) } }, campaign);
    const ids = { workspaceId: world.workspaceId, campaignId: campaign.id };
    const about = { ...ids, timeZone: 'UTC', campaign: { budget: eur(100), window } };
    const fixed = () => transaction(management.pool, (tx) => readFixedMicros(tx, about));
    expect(await fixed()).toBe(50_000_000n);
    const refusal = await refusalOf(world.booked({ ...days, rate: { model: 'flat', price: eur(51) } }, campaign));
    expect(refusal.code).toBe('line_item_not_bookable');
    expect(await fixed()).toBe(50_000_000n);

    // Amendments that wait take from the budget what they will cost; one that replaces another has that back.
    const one = await world.booked({ ...days, rate: { model: 'flat', price: eur(10) } }, campaign);
    const other = await world.booked({ ...days, rate: { model: 'flat', price: eur(10) } }, campaign);
    const amendLater = (of: ResourceView, units: number) =>
      world.send('line_item.amend', of, {
        rate: { model: 'flat', price: eur(units) },
        effective_at: '2027-03-05T00:00:00Z',
      });
    const waiting = await amendLater(one.lineItem, 40);
    expect(await fixed()).toBe(100_000_000n);
    expect((await refusalOf(amendLater(other.lineItem, 11))).code).toBe('line_item_not_bookable');
    await amendLater(waiting, 30);
    await amendLater(other.lineItem, 20);
  });

  test('has no room for fixed prices where units have taken it, as the pacer knows when such a price is set', async () => {
    const world = createWorld(management);
    const { window } = days;
    const campaign = await world.send('campaign.revise', await world.activeCampaign(), { budget: eur(100), window });
    const asked: (readonly string[])[] = [];
    let spent = 90;
    management.sumUnitCosts = async (workspaceId, lineItemIds) => {
      expect(workspaceId).toBe(world.workspaceId);
      asked.push(lineItemIds);
      return BigInt(spent * 1_000_000);
    };
    const byUnits = await world.booked({ window }, campaign);
    expect(asked).toEqual([]);
    const flat = (units: number) => world.booked({ window, rate: { model: 'flat', price: eur(units) } }, campaign);
    const refusal = { code: 'line_item_not_bookable', message: expect.stringContaining('by units') };
    expect(await refusalOf(flat(11))).toMatchObject(refusal);
    const { lineItem } = await flat(10);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain(byUnits.lineItem.id);
    const perDay = world.booked({ window, rate: { model: 'cpd', price: eur(1) } }, campaign);
    expect(await refusalOf(perDay)).toMatchObject(refusal);

    // What costs less is not refused, however much units have taken since.
    spent = 95;
    const amend = (of: ResourceView, units: number) =>
      world.send('line_item.amend', of, { rate: { model: 'flat', price: eur(units) } });
    const cheaper = await amend(lineItem, 8);
    expect(await refusalOf(amend(cheaper, 9))).toMatchObject(refusal);
    management.sumUnitCosts = async () => Promise.reject(new Problem('temporarily_unavailable'));
    expect((await refusalOf(amend(cheaper, 9))).code).toBe('temporarily_unavailable');
    await world.send('line_item.amend', byUnits.lineItem, { goal: { unit: 'impressions', quantity: 7 } });
    management.sumUnitCosts = async () => 0n;
    await amend(cheaper, 100);
  });

  test('is not lowered below what units have committed at any price beside fixed prices, nor given below it; it may always have more', async () => {
    const world = createWorld(management);
    const revise = async (of: ResourceView, units: number) => world.send('campaign.revise', of, { budget: eur(units) });
    const { campaign, lineItem } = await world.booked();
    await world.booked({ rate: { model: 'flat', price: eur(30) } }, campaign);
    management.sumUnitCosts = async (_workspaceId, ids) => (ids.includes(lineItem.id) ? 50_000_000n : 0n);
    const refusal = { context: { errors: [{ code: 'budget_not_kept', path: '/changes/budget' }] } };
    expect(await refusalOf(revise(campaign, 79))).toMatchObject(refusal);
    const given = await revise(campaign, 100);
    expect(await refusalOf(revise(given, 79))).toMatchObject(refusal);
    const lower = await revise(given, 80);
    management.sumUnitCosts = async () => Promise.reject(new Problem('temporarily_unavailable'));
    expect((await refusalOf(revise(lower, 70))).code).toBe('temporarily_unavailable');
    await revise(lower, 81);
    // Nothing of a campaign is sold yet: nobody is asked.
    await revise(await revise(await world.activeCampaign(), 80), 70);
  });
});
