import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { planPoliciesKey, planPoliciesSchema, type ResourceView } from '@longwave/events';
import { until } from '@longwave/test-kit';
import { decodeJwt } from 'jose';
import { startFollowed, type Followed } from './_followed.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let followed: Followed;
beforeAll(async () => {
  followed = await startFollowed();
});
afterAll(async () => followed[Symbol.asyncDispose]());

const operator = service('operator');
const inAnHour = () => new Date(followed.management.clock().getTime() + hour).toISOString();
const untilState = ({ id }: Pick<ResourceView, 'id'>, state: string) =>
  followed.until(id, (row) => row.lifecycle_state === state);

describe('a submitted policy', () => {
  test('comes into force at its time, not before, and supersedes the older one of its kind and scope alone', async () => {
    const world = createWorld(followed.management);
    const older = await world.activePolicy();
    const otherScope = await world.activePolicy({
      scope: { kind: 'podcasts', podcast_ids: [(await world.podcast()).id] },
    });
    const otherKind = await world.activePolicy({ kind: 'separation', rules: { advertiser: { scope: 'episode' } } });
    const next = await world.scheduledPolicy({}, { effective_at: inAnHour() });
    await expect(world.send('policy.activate', next, {}, service('management'))).rejects.toMatchObject({
      code: 'state_not_allowed',
    });
    await using _clock = followed.runClock();
    followed.management.aheadMs += hour + 1000;
    await untilState(next, 'active');
    await untilState(older, 'superseded');
    for (const { id } of [otherScope, otherKind]) expect((await followed.read(id)).lifecycle_state).toBe('active');
  });

  test('waits for two reviewers when a person submits it', async () => {
    const world = createWorld(followed.management);
    const policy = await world.policy();
    await world.send('policy.submit', policy, {});
    const task = await world.taskOf(policy.id);
    expect(task.attributes).toMatchObject({ command_type: 'policy.submit', mode: 'dual' });
    expect((await followed.read(policy.id)).lifecycle_state).toBe('draft');
  });

  test('that is retired before its time never comes into force', async () => {
    const world = createWorld(followed.management);
    const policy = await world.scheduledPolicy({}, { effective_at: inAnHour() });
    const replacement = await world.activePolicy({
      scope: { kind: 'podcasts', podcast_ids: [(await world.podcast()).id] },
    });
    const retired = await world.send('policy.retire', policy, { replacement_id: replacement.id }, operator);
    expect(retired).toMatchObject({ lifecycle_state: 'retired', attributes: { replacement_id: replacement.id } });
    const other = await world.activePolicy({
      kind: 'frequency',
      rules: { caps: [{ max: 1, per: 'break', window_seconds: 60 }] },
    });
    await expect(
      world.send('policy.retire', other, { replacement_id: replacement.id }, operator),
    ).rejects.toMatchObject({ code: 'validation_failed' });
  });
});

describe('rules', () => {
  const errorsOf = (world: World, given: Record<string, unknown>) =>
    world.policy(given).then(
      () => [],
      (error: { context: { errors: { path: string }[] } }) => error.context.errors.map(({ path }) => path),
    );

  test.each([
    ['frequency', { caps: [{ max: 0, per: 'listener_bucket', window_seconds: 60 }] }, '/changes/rules/caps/0/max'],
    [
      'frequency',
      { caps: [{ max: 1, per: 'episode', window_seconds: 31 * 86_400 }] },
      '/changes/rules/caps/0/window_seconds',
    ],
    ['separation', { advertiser: { scope: 'none' } }, '/changes/rules/advertiser/scope'],
    ['separation', {}, '/changes/rules'],
    ['brand_safety', { blocked_ad_categories: [] }, '/changes/rules/blocked_ad_categories'],
    ['ad_load', { max_ads_per_play: 0 }, '/changes/rules/max_ads_per_play'],
    ['ad_load', { caps: [] }, '/changes/rules'],
    ['privacy', { blocked_targeting: ['podcasts'] }, '/changes/rules/blocked_targeting/0'],
    ['retention', { report_days: 0 }, '/changes/rules/report_days'],
    ['retention', { report_days: 7, fact_months: 14 }, '/changes/rules'],
    ['patience', { days: 1 }, '/changes/kind'],
  ])('of the kind %s are closed and bounded: %j', async (kind, rules, path) => {
    expect(await errorsOf(createWorld(followed.management), { kind, rules })).toContain(path);
  });

  test('of a draft are revised by its kind', async () => {
    const world = createWorld(followed.management);
    const policy = await world.policy();
    await expect(
      world.send('policy.revise', policy, { rules: { caps: [{ max: 1, per: 'break', window_seconds: 60 }] } }),
    ).rejects.toMatchObject({ code: 'validation_failed' });
    const revised = await world.send('policy.revise', policy, { rules: { max_ads_per_break: 1 } });
    expect(revised.attributes['rules']).toEqual({ max_ads_per_break: 1 });
  });

  test('name advertisers, podcasts and units of the workspace only', async () => {
    const world = createWorld(followed.management);
    const foreign = createWorld(followed.management);
    const kind = 'brand_safety';
    const rules = { blocked_advertiser_ids: [(await foreign.advertiser()).id] };
    expect(await errorsOf(world, { kind, rules })).toEqual(['/changes/rules/blocked_advertiser_ids']);
    const scope = { kind: 'podcasts', podcast_ids: [(await foreign.podcast()).id] };
    expect(await errorsOf(world, { scope })).toEqual(['/changes/scope/podcast_ids']);
  });
});

describe('a serving plan', () => {
  /** The plan of a workspace that decides: the last one published, once `holds`. */
  const decidingPlan = (
    world: World,
    holds: (policies: readonly string[], attributes: Record<string, unknown>) => boolean,
  ) =>
    until(
      'a published plan under these policies',
      async () =>
        (
          await followed.management.pool.query<{ id: string; attributes: Record<string, unknown> }>(
            `select id, attributes from resource where workspace_id = $1 and resource_type = 'serving_plans'
               and lifecycle_state = 'published' order by updated_at desc, id desc limit 1`,
            [world.workspaceId],
          )
        ).rows[0],
      {
        holds: (row) =>
          row !== undefined &&
          holds(
            ((row.attributes['policies'] ?? []) as { id: string }[]).map(({ id }) => id),
            row.attributes,
          ),
      },
    );

  const documentOf = async (attributes: Record<string, unknown>) => {
    const digest = attributes['policies_digest'] as string;
    const bytes = await text(await followed.management.store.get(planPoliciesKey(digest)));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest);
    return planPoliciesSchema.parse(JSON.parse(bytes));
  };

  test('decides under a policy soon after it came into force, under the newer one after that, and without it when it is retired', async () => {
    const world = createWorld(followed.management);
    const { lineItem } = await world.booked();
    const plan = await world.planned(lineItem.id);
    await using _clock = followed.runClock();
    const first = await world.scheduledPolicy();
    const renewed = await decidingPlan(world, (ids) => ids.includes(first.id));
    await untilState(plan, 'superseded');
    expect(renewed.attributes).toMatchObject({ renews: plan.id, digest: plan.attributes['digest'] });
    expect((await documentOf(renewed.attributes)).policies).toEqual([
      { id: first.id, version: 3, kind: 'ad_load', place: null, rules: { max_ms_per_play: 60_000 } },
    ]);
    const { rows } = await followed.management.pool.query<{ line_item_ids: string[] }>(
      'select line_item_ids from serving_plan_content where serving_plan_id = $1',
      [renewed.id],
    );
    expect(rows).toEqual([{ line_item_ids: [lineItem.id] }]);
    const second = await world.scheduledPolicy({ rules: { max_ads_per_play: 1 } });
    await decidingPlan(world, (ids) => ids.length === 1 && ids[0] === second.id);
    const { version } = await untilState(second, 'active');
    await world.send('policy.retire', { ...second, version }, { replacement_id: 'none' }, operator);
    const last = await decidingPlan(world, (ids) => ids.length === 0);
    expect(last.attributes).not.toHaveProperty('policies_digest');
    expect(last.attributes['digest']).toBe(plan.attributes['digest']);
  });

  test('has the policies in force from its publication on, with inventory units as the podcasts that they cover', async () => {
    const world = createWorld(followed.management);
    const podcast = await world.podcast();
    const unit = await world.show(podcast.id);
    const policy = await world.activePolicy({
      scope: { kind: 'inventory_units', inventory_unit_ids: [unit.id, unit.id] },
    });
    const everywhere = await world.activePolicy({
      kind: 'privacy',
      scope: { kind: 'inventory_units', inventory_unit_ids: [(await world.network()).id] },
      rules: { blocked_targeting: ['regions'] },
    });
    const plan = await world.publishedPlan();
    expect(plan.attributes['policies']).toEqual([
      { id: policy.id, version: policy.version, kind: 'ad_load' },
      { id: everywhere.id, version: everywhere.version, kind: 'privacy' },
    ]);
    expect((await documentOf(plan.attributes)).policies.map(({ place }) => place)).toEqual([
      { podcasts: [podcast.id], episodes: [] },
      null,
    ]);
    await followed.caughtUp(world);
    // It has them already: nothing is published again.
    expect((await followed.read(plan.id)).lifecycle_state).toBe('published');
  });

  test('is published again once, however many events ask for it at once', async () => {
    const world = createWorld(followed.management);
    const plan = await world.publishedPlan();
    await world.activePolicy();
    const renew = () =>
      world.send('serving_plan.renew_policies', null, { renews: plan.id }, service('management')).then(
        () => 'renewed',
        ({ code }: { code: string }) => code,
      );
    const answers = await Promise.all([renew(), renew(), renew(), renew()]);
    // The follower of the policy's event may have been the first.
    expect(answers.filter((answer) => answer === 'renewed').length).toBeLessThanOrEqual(1);
    await followed.caughtUp(world);
    const { rows } = await followed.management.pool.query(
      `select from resource where resource_type = 'serving_plans' and attributes ->> 'renews' = $1`,
      [plan.id],
    );
    expect(rows).toHaveLength(1);
  });

  test('for a later time comes under the policies of that time, after the one that decides until then', async () => {
    const world = createWorld(followed.management);
    const now = await world.publishedPlan();
    const later = await world.send('serving_plan.publish', await world.readyPlan(inAnHour()), {});
    await using _clock = followed.runClock();
    const policy = await world.scheduledPolicy();
    const at = later.attributes['effective_from'];
    const renewals = await until(
      'a renewal of both plans',
      async () =>
        (
          await followed.management.pool.query<{
            id: string;
            lifecycle_state: string;
            attributes: Record<string, unknown>;
          }>(
            `select id, lifecycle_state, attributes from resource
             where attributes ->> 'renews' = any($1) order by attributes ->> 'effective_from'`,
            [[now.id, later.id]],
          )
        ).rows,
      { holds: (rows) => rows.length === 2 },
    );
    await untilState(now, 'superseded');
    for (const { lifecycle_state: state, attributes } of renewals) {
      expect(state).toBe('published');
      expect(attributes['policies']).toMatchObject([{ id: policy.id }]);
    }
    // The renewal of the plan in effect came later than the plan for a later time, and does not end it.
    expect((await followed.read(later.id)).lifecycle_state).toBe('published');
    const last = renewals[1]!;
    expect(last.attributes['effective_from']).toBe(at);
    followed.management.aheadMs += hour + 1000;
    await untilState(later, 'superseded');
    await untilState(renewals[0]!, 'superseded');
    expect((await followed.read(last.id)).lifecycle_state).toBe('published');
  });
});

test('a review policy makes a booking wait from its activation on, names itself in the receipt, and ends with its retirement', async () => {
  const world = createWorld(followed.management);
  const owner = await world.known();
  const finance = await world.member(['finance']);
  const bookable = async () => world.approvedLineItem();
  const book = async () => {
    const lineItem = await bookable();
    await world.send('line_item.book', lineItem, {}, owner.actor);
    return followed.read(lineItem.id).then((row) => ({ ...row, id: lineItem.id }));
  };
  expect((await book()).lifecycle_state).toBe('booked');
  // The price of the line items is 18 EUR.
  const policy = await world.activePolicy({
    kind: 'review',
    rules: {
      rules: [
        {
          command_types: ['line_item.book'],
          min_amount_micros: '18000000',
          mode: 'single',
          reviewer_roles: ['finance'],
        },
      ],
    },
  });
  const waiting = await book();
  expect(waiting.lifecycle_state).toBe('approved');
  const task = await world.taskOf(waiting.id);
  expect(task.attributes).toMatchObject({ mode: 'single', required_roles: ['finance'] });
  await world.send('review.approve', task, {}, finance.actor);
  await followed.until(waiting.id, (row) => row.lifecycle_state === 'booked');
  const { rows } = await followed.management.pool.query<{ jws: string }>(
    `select jws from receipt where id = (select receipt_id from operation where review_task_id = $1)`,
    [task.id],
  );
  expect(decodeJwt(rows[0]!.jws)['policy_versions']).toContainEqual({ id: policy.id, version: policy.version });
  await world.send('policy.retire', policy, { replacement_id: 'none' }, operator);
  expect((await book()).lifecycle_state).toBe('booked');
});

test('a review policy is about the advertisers of its product categories, and says how long reviewers have', async () => {
  const world = createWorld(followed.management);
  const owner = await world.known();
  await world.member(['finance']);
  const rule = { command_types: ['line_item.book'], mode: 'single', reviewer_roles: ['finance'] };
  const rules = [{ ...rule, ad_product_categories: ['1002'], due_hours: 24 }];
  await world.activePolicy({ kind: 'review', rules: { rules } });
  const book = (lineItem: ResourceView) => world.send('line_item.book', lineItem, {}, owner.actor);
  expect((await book(await world.approvedLineItem())).lifecycle_state).toBe('booked');
  const lineItem = await world.approvedLineItem();
  const campaign = await followed.read(String(lineItem.attributes['campaign_id']));
  const advertiser = await followed.read(String(campaign.attributes['advertiser_id']));
  const of = { resource_type: 'advertisers', id: String(campaign.attributes['advertiser_id']) };
  const wine = { ad_product_categories: ['1002'] };
  await world.send('advertiser.revise', { ...of, version: advertiser.version }, wine, operator);
  expect((await book(lineItem)).lifecycle_state).toBe('approved');
  const { created_at: from, attributes } = await world.taskOf(lineItem.id);
  expect(Date.parse(String(attributes['due_at'])) - new Date(from).getTime()).toBe(24 * hour);
});

test('a review policy by category is about a creative that names the category itself, and about the line item that has it', async () => {
  const world = createWorld(followed.management);
  const owner = await world.known();
  await world.member(['finance']);
  const rule = { mode: 'single', reviewer_roles: ['finance'], ad_product_categories: ['IAB7-39'] };
  const lineItem = await world.lineItem();
  const campaign = await followed.read(String(lineItem.attributes['campaign_id']));
  const creative = await world.approvedCreative(String(campaign.attributes['advertiser_id']));
  const rules = [{ ...rule, command_types: ['creative.revise', 'line_item.book'] }];
  await world.activePolicy({ kind: 'review', rules: { rules } });
  const named = { categories: ['IAB1', 'IAB7-39'] };
  const other = await world.send('creative.revise', creative, { categories: ['IAB1'] }, owner.actor);
  expect(other.attributes).toMatchObject({ categories: ['IAB1'] });
  const waiting = await world.send('creative.revise', other, named, owner.actor);
  expect(waiting.attributes).toMatchObject({ categories: ['IAB1'] });
  const revised = await world.send('creative.revise', other, named, operator);
  await world.send('creative_assignment.activate', await world.assign(lineItem, revised), {});
  const submitted = await world.send('line_item.submit', lineItem, {}, operator);
  expect((await world.send('line_item.book', submitted, {}, owner.actor)).lifecycle_state).toBe('approved');
  expect((await world.send('line_item.book', await world.approvedLineItem(), {}, owner.actor)).lifecycle_state).toBe(
    'booked',
  );
});

test('a review policy is about commands that are reviewed', async () => {
  const world = createWorld(followed.management);
  const rule = { mode: 'single', reviewer_roles: ['admin'] };
  for (const type of ['line_item.pause', 'line_item.fly'])
    await expect(
      world.policy({ kind: 'review', rules: { rules: [{ ...rule, command_types: [type] }] } }),
    ).rejects.toMatchObject({ code: 'validation_failed' });
});
