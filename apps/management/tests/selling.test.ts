import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { CheckAvailability } from '../src/commerce/forecasts/check-availability.ts';
import { findBookingVersion } from '../src/commerce/forecasts/booking-version-table.ts';
import { findPlanWorkspace, readBookedParts } from '../src/commerce/forecasts/read-booked-plan.ts';
import { decodeJwt } from 'jose';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour, person } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());
beforeEach(() => {
  management.available = {};
  management.checkAvailability = undefined;
});

const until = (w: World) => ({ expires_at: new Date(w.now().getTime() + hour).toISOString() });
const reserve = (w: World, lineItem: ResourceView, changes: object = {}) =>
  w.send('line_item.reserve', lineItem, { ...until(w), ...changes });
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as Problem,
  );
const versionOf = (w: World) => findBookingVersion(management.pool, w.workspaceId);

/** A forecaster over the real bookings: what is left of so many slots, read in one snapshot. */
const slots =
  (total: number): CheckAvailability =>
  async (workspaceId, line) =>
    transaction(
      management.pool,
      async (tx) => {
        const workspace = await findPlanWorkspace(tx, workspaceId);
        const { lines } = await readBookedParts(tx, workspace, management.clock());
        const others = lines.map((sold) => sold.line).filter(({ line_item_id: id }) => id !== line.line_item_id);
        const left = BigInt(total - others.reduce((sum, { goal }) => sum + (goal.quantity ?? 0), 0));
        const contending = others.map(({ line_item_id: lineItemId, goal, type: tier }) => ({
          ...{ lineItemId, tier, loses: 5n, ofGoal: BigInt(goal.quantity ?? 0) },
        }));
        const bookingVersion = BigInt(await findBookingVersion(tx, workspaceId));
        return {
          ...{ capacity: BigInt(total), available: left, nearest: left },
          contending,
          learning: false,
          shareTakenPct: 0,
          bookingVersion,
        };
      },
      'REPEATABLE READ',
    );

/** `LONGWAVE_SELLER_ROUNDS=1000` is the guarantee in full, in minutes. */
const rounds = Number(process.env['LONGWAVE_SELLER_ROUNDS'] ?? 40);

test('of two sellers who want the last slots at once exactly one gets them, each time', async () => {
  const w = createWorld(management);
  let both: readonly ResourceView[] = [await w.approvedLineItem(), await w.approvedLineItem()];
  management.checkAvailability = slots(15);
  const sold: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const ends = await Promise.allSettled(both.map((lineItem) => reserve(w, lineItem)));
    const reserved = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as Problem).code] : []));
    sold.push(reserved.length);
    expect(refused).toEqual(['inventory_not_available']);
    const released = await w.send('line_item.release_reservation', reserved[0]!, {});
    both = both.map((one) => (one.id === released.id ? released : one));
  }
  expect(sold).toEqual(Array(rounds).fill(1));
}, 600_000);

test('what is not left is refused with the numbers, who has the rest and what would fit; nothing is sold', async () => {
  const w = createWorld(management);
  const first = await reserve(w, await w.approvedLineItem());
  const second = await w.approvedLineItem();
  const before = await versionOf(w);
  management.checkAvailability = slots(17);
  const refusal = (await refusalOf(reserve(w, second)))!;
  expect([refusal.code, refusal.status]).toEqual(['inventory_not_available', 422]);
  expect(refusal.context.members).toEqual({
    ...{ capacity: 17, available: 7, nearest: 7 },
    contending: [{ line_item_id: first.id, loses: 5, of_goal: 10, tier: 'guaranteed' }],
  });
  expect(refusal.context.errors).toContainEqual({
    ...{ path: '/attributes/goal/quantity', code: 'contending', detail: `${first.id} would lose 5 of 10.` },
  });
  expect(await versionOf(w)).toBe(before);
  expect(await refusalOf(w.send('line_item.book', second, {}))).toMatchObject({ code: 'inventory_not_available' });
  // A reservation holds its slots: booking it asks nobody.
  management.checkAvailability = () => Promise.reject(new Error('nobody is asked'));
  expect((await w.send('line_item.book', first, {})).lifecycle_state).toBe('booked');
});

test('facts of less than 14 days refuse nothing, and the line item says so', async () => {
  const w = createWorld(management);
  management.available = { learning: true, capacity: 0n, available: 0n, nearest: 0n };
  const { attributes } = await reserve(w, await w.approvedLineItem());
  expect(attributes['availability']).toMatchObject({ learning: true, capacity: 0 });
});

test('a policy of the workspace allows so many per cent more, and the receipt names it', async () => {
  const w = createWorld(management);
  management.available = { capacity: 10n, available: 8n, nearest: 8n };
  const lineItem = await w.approvedLineItem();
  expect(await refusalOf(reserve(w, lineItem))).toMatchObject({ code: 'inventory_not_available' });
  const policy = await w.activePolicy({ kind: 'delivery_bounds', rules: { overbook_pct: 25 } });
  const { id, attributes } = await reserve(w, lineItem);
  expect(attributes['availability']).toMatchObject({ capacity: 10, available: 8 });
  const { rows } = await management.pool.query<{ jws: string }>(
    `select jws from receipt r join operation o on o.id = r.operation_id
     where o.subject_id = $1 and o.command_type = 'line_item.reserve'`,
    [id],
  );
  expect(decodeJwt(rows[0]!.jws)['policy_versions']).toMatchObject([{ id: policy.id }]);
});

const reserveOver = (w: World, lineItem: ResourceView) =>
  w.send(
    'line_item.reserve',
    lineItem,
    { ...until(w), allow_overbook: true, cause: 'A client of ten years.' },
    person(w.workspaceId, ['viewer', 'sales']),
  );

/** A second line item that is sold although too few of so many slots are left, and waits for its reviewers. */
async function overbooked(w: World, total: number) {
  const first = await reserve(w, await w.approvedLineItem());
  const second = await w.approvedLineItem();
  management.checkAvailability = slots(total);
  await reserveOver(w, second);
  return { first, second, task: await w.taskOf(second.id) };
}

async function approve(w: World, task: ResourceView): Promise<void> {
  let open = task;
  for (const reviewer of [1, 2].map(() => person(w.workspaceId, ['viewer', 'reviewer'])))
    open = await w.send('review.approve', open, {}, reviewer);
  await management.runApproved(w.workspaceId, task.id);
}

const stored = async (id: string) => {
  const { rows } = await management.pool.query<{ state: string; attributes: Record<string, unknown> }>(
    'select lifecycle_state as state, attributes from resource where id = $1',
    [id],
  );
  return rows[0]!;
};

const operationOf = async ({ attributes }: ResourceView) => {
  const text = 'select state, problem from operation where id = $1';
  return (await management.pool.query<object>(text, [attributes['operation_id']])).rows[0];
};

test('who sells more than is left says why and waits for two others, whose task shows who would lose what', async () => {
  const w = createWorld(management);
  const unexplained = await w.approvedLineItem();
  expect(await refusalOf(reserve(w, unexplained, { allow_overbook: true }))).toMatchObject({
    code: 'validation_failed',
  });
  const { first, second, task } = await overbooked(w, 17);
  const shown = { overbooked_by: 3, contending: [{ line_item_id: first.id, loses: 5, of_goal: 10 }] };
  expect(task.attributes).toMatchObject({ command_type: 'line_item.reserve', mode: 'dual', shown });
  const { difference } = await management.previewReview(w.workspaceId, task.id);
  expect(JSON.stringify(difference)).toContain('"overbooked_by":3');
  expect(JSON.stringify(difference)).toContain(first.id);
  await approve(w, task);
  expect(await stored(second.id)).toMatchObject({ state: 'reserved', attributes: { availability: shown } });
});

test('an overbooking that got worse since it was requested is neither shown as approvable nor carried out, and says what changed', async () => {
  const w = createWorld(management);
  const { first, second, task } = await overbooked(w, 17);
  management.checkAvailability = async (workspaceId, line) => {
    const found = await slots(16)(workspaceId, line);
    return { ...found, contending: found.contending.map((one) => ({ ...one, loses: 6n })) };
  };
  const changed = [
    'What was approved has changed. 4 more than is left would be promised instead of 3.',
    `${first.id} would lose 6 instead of 5. Send the command again.`,
  ].join(' ');
  expect(await refusalOf(management.previewReview(w.workspaceId, task.id))).toMatchObject({ message: changed });
  await approve(w, task);
  const problem = { code: 'inventory_not_available', detail: changed };
  expect(await operationOf(task)).toEqual({ state: 'failed', problem });
  expect(await stored(second.id)).toMatchObject({ state: 'approved' });
});

test('who was approved to overbook while it fitted does not overbook when others have bought since', async () => {
  const w = createWorld(management);
  const { second, task } = await overbooked(w, 20);
  expect(task.attributes['shown']).toBeUndefined();
  management.checkAvailability = slots(17);
  await approve(w, task);
  expect(await operationOf(task)).toMatchObject({ problem: { code: 'inventory_not_available' } });
  expect(await stored(second.id)).toMatchObject({ state: 'approved' });
});

test('an overbooking that got better is carried out with what is true then', async () => {
  const w = createWorld(management);
  const { second, task } = await overbooked(w, 17);
  management.checkAvailability = slots(18);
  await approve(w, task);
  expect(await stored(second.id)).toMatchObject({
    state: 'reserved',
    attributes: { availability: { overbooked_by: 2 } },
  });
});

test('an amendment sells no more below a floor than a booking, neither now nor together with one that waits', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  const price = { min_cpm: { amount_micros: '18000000', currency: 'EUR' } };
  const unit = await w.send('inventory_unit.create', null, { name: 'all', kind: 'network', source_ref: {}, ...price });
  await w.send('inventory_unit.activate', unit, {});
  const rate = (amount: string) => ({
    rate: { model: 'cpm', price: { amount_micros: amount, currency: 'EUR' } },
  });
  const amend = (of: ResourceView, changes: object, actor = person(w.workspaceId, ['viewer', 'sales'])) =>
    w.send('line_item.amend', of, changes, actor);
  const below = { code: 'line_item_not_bookable', message: expect.stringContaining('allow_below_floor') };
  expect(await refusalOf(amend(lineItem, rate('17999999')))).toMatchObject(below);
  const effective_at = new Date(w.now().getTime() + hour).toISOString();
  expect(await refusalOf(amend(lineItem, { ...rate('17999999'), effective_at }))).toMatchObject(below);
  expect(await refusalOf(amend(lineItem, { ...rate('1'), allow_below_floor: true }))).toMatchObject({
    code: 'validation_failed',
  });
  const raised = await amend(lineItem, rate('18000000'));
  await amend(raised, { ...rate('1'), effective_at, allow_below_floor: true, cause: 'A client of ten years.' });
  const task = await w.taskOf(lineItem.id);
  expect(task.attributes).toMatchObject({ command_type: 'line_item.amend', mode: 'single' });
  await w.send('review.approve', task, {}, person(w.workspaceId, ['viewer', 'reviewer']));
  await management.runApproved(w.workspaceId, task.id);
  expect((await stored(lineItem.id)).attributes['amendment']).toEqual({ ...rate('1'), effective_at });
  const waiting = { ...raised, version: raised.version + 1 };
  expect(await refusalOf(amend(waiting, { targeting: {} }))).toMatchObject(below);
});

test('a guaranteed line item below a floor is booked only with a cause, and when another person has approved', async () => {
  const w = createWorld(management);
  const lineItem = await w.approvedLineItem();
  const floor = async (amount: string, podcastId?: string) => {
    const place = podcastId
      ? { kind: 'show', source_ref: { podcast_id: podcastId } }
      : { kind: 'network', source_ref: {} };
    const price = { min_cpm: { amount_micros: amount, currency: 'EUR' } };
    const unit = await w.send('inventory_unit.create', null, { name: amount, ...place, ...price });
    return w.send('inventory_unit.activate', unit, {});
  };
  await floor('18000000');
  await floor('18000001', (await w.podcast()).id);
  const version = await versionOf(w);
  const refusal = await refusalOf(w.send('line_item.book', lineItem, {}));
  expect(refusal).toMatchObject({ code: 'line_item_not_bookable' });
  expect(refusal!.message).toContain('allow_below_floor');
  const allow = { allow_below_floor: true };
  expect(await refusalOf(w.send('line_item.book', lineItem, allow))).toMatchObject({ code: 'validation_failed' });
  expect(await versionOf(w)).toBe(version);
  const seller = person(w.workspaceId, ['viewer', 'sales']);
  await w.send('line_item.book', lineItem, { ...allow, cause: 'A client of ten years.' }, seller);
  const task = await w.taskOf(lineItem.id);
  expect(task.attributes).toMatchObject({ command_type: 'line_item.book', mode: 'single' });
  await w.send('review.approve', task, {}, person(w.workspaceId, ['viewer', 'reviewer']));
  await management.runApproved(w.workspaceId, task.id);
  expect(await stored(lineItem.id)).toMatchObject({ state: 'booked' });
});

test('without an answer, and while others sell again and again, nothing is sold', async () => {
  const w = createWorld(management);
  const lineItem = await w.approvedLineItem();
  management.checkAvailability = () => Promise.reject(new Problem('temporarily_unavailable'));
  expect(await refusalOf(reserve(w, lineItem))).toMatchObject({ code: 'temporarily_unavailable' });
  let asked = 0;
  management.checkAvailability = async (workspaceId, line) => {
    asked++;
    return { ...(await slots(100)(workspaceId, line)), bookingVersion: 99n };
  };
  expect(await refusalOf(reserve(w, lineItem))).toMatchObject({ code: 'temporarily_unavailable' });
  expect([asked, await versionOf(w)]).toEqual([4, 0]);
  management.checkAvailability = slots(100);
  expect((await reserve(w, lineItem)).lifecycle_state).toBe('reserved');
});

test('an amendment that asks for more is checked, one for less is not; what competes by price is promised nothing', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  management.checkAvailability = slots(12);
  const amend = (of: ResourceView, quantity: number) =>
    w.send('line_item.amend', of, { goal: { unit: 'impressions', quantity } });
  expect(await refusalOf(amend(lineItem, 13))).toMatchObject({ code: 'inventory_not_available' });
  const grown = await amend(lineItem, 12);
  management.checkAvailability = () => Promise.reject(new Error('nobody is asked'));
  await amend(grown, 5);
  await w.booked({ type: 'non_guaranteed' });
});

test('a more urgent priority is checked as a booking is, raises the bookings, and waits for two others where others lose', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  const seller = person(w.workspaceId, ['viewer', 'trafficker']);
  const set = (changes: object = {}) => w.send('line_item.set_priority', lineItem, { priority: 1, ...changes }, seller);
  management.checkAvailability = slots(9);
  expect(await refusalOf(set())).toMatchObject({ code: 'inventory_not_available' });
  await set({ allow_overbook: true, cause: 'A client of ten years.' });
  const task = await w.taskOf(lineItem.id);
  expect(task.attributes).toMatchObject({ mode: 'dual', shown: { overbooked_by: 1 } });
  const before = await versionOf(w);
  await approve(w, task);
  expect((await stored(lineItem.id)).attributes).toMatchObject({ priority: 1, availability: { overbooked_by: 1 } });
  expect(await versionOf(w)).toBe(before + 1);
});

test('a line item that can serve nowhere has nothing left, whoever is asked', async () => {
  const w = createWorld(management);
  const unit = await w.network();
  management.checkAvailability = () => Promise.reject(new Error('nobody is asked'));
  const booked = w.booked({ targeting: { inventory: { include: [unit.id] } } });
  expect(await refusalOf(booked)).toMatchObject({
    code: 'inventory_not_available',
    context: { members: { capacity: 0, available: 0, nearest: 0 } },
  });
});

test('what an amendment for later was promised is sold to nobody else, nor what the line item has until then', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  management.checkAvailability = slots(20);
  const later = new Date(w.now().getTime() + hour).toISOString();
  const amend = (of: ResourceView, quantity: number) =>
    w.send('line_item.amend', of, { goal: { unit: 'impressions', quantity }, effective_at: later });
  const grows = await amend(lineItem, 15);
  const next = await w.approvedLineItem();
  const left = { context: { members: { capacity: 20, available: 5 } } };
  expect(await refusalOf(reserve(w, next))).toMatchObject({ code: 'inventory_not_available', ...left });
  // One that shrinks keeps until then what it has.
  await amend(grows, 5);
  management.checkAvailability = slots(19);
  expect(await refusalOf(reserve(w, next))).toMatchObject({ context: { members: { available: 9 } } });
});

test('a later end asks for what is left in the longer window, and waits for two others where it is too little', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  const { end } = lineItem.attributes['window'] as { end: string };
  const extend = (changes: object = {}) =>
    w.send('line_item.extend', lineItem, {
      end: new Date(Date.parse(end) + hour).toISOString(),
      cause: 'Late ads.',
      ...changes,
    });
  management.checkAvailability = slots(9);
  expect(await refusalOf(extend())).toMatchObject({ code: 'inventory_not_available' });
  management.checkAvailability = slots(10);
  expect((await extend()).attributes['availability']).toMatchObject({ available: 10 });
});

const sponsorship = (quantity: number) => ({ type: 'sponsorship', goal: { unit: 'share_pct', quantity } });
const exclusive = { type: 'exclusive', goal: { unit: 'unlimited' } };

test('shares of a break are sold up to all of it; an exclusive line item needs all', async () => {
  const w = createWorld(management);
  management.available = { shareTakenPct: 60 };
  const left = (of: Record<string, unknown>) =>
    refusalOf(w.approvedLineItem(of).then((lineItem) => reserve(w, lineItem)));
  const nearest = (quantity: number) => ({
    ...{ code: 'inventory_not_available' },
    context: { members: { nearest: quantity, contending: [] } },
  });
  expect(await left(sponsorship(41))).toMatchObject(nearest(40));
  expect(await left(exclusive)).toMatchObject(nearest(40));
  expect(await left(sponsorship(40))).toBeUndefined();
  management.available = {};
  expect(await left(exclusive)).toBeUndefined();
});

test('a sponsorship that takes what line items were promised is refused, or waits for two others who see who loses', async () => {
  const w = createWorld(management);
  const { lineItem: promised } = await w.booked();
  const loses = (tier: string) => ({
    contending: [{ lineItemId: promised.id, tier, loses: 9n, ofGoal: 10n }],
  });
  // Another sponsorship has its share as long as the sum is no more than all.
  management.available = loses('sponsorship');
  expect((await reserve(w, await w.approvedLineItem(sponsorship(30)))).lifecycle_state).toBe('reserved');
  management.available = loses('guaranteed');
  const lineItem = await w.approvedLineItem(sponsorship(30));
  const shown = { overbooked_by: 9, contending: [{ line_item_id: promised.id, loses: 9, of_goal: 10 }] };
  expect(await refusalOf(reserve(w, lineItem))).toMatchObject({
    code: 'inventory_not_available',
    context: { members: { contending: [{ ...shown.contending[0], tier: 'guaranteed' }] } },
  });
  await reserveOver(w, lineItem);
  expect((await w.taskOf(lineItem.id)).attributes).toMatchObject({ mode: 'dual', shown });
});
