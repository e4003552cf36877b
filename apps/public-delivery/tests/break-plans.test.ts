import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { findBreakPlan, listHalts } from '../src/projection/break-table.ts';
import { apply, next } from './_apply.ts';
import { eventOf, openBench, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
const [podcastId, episodeId] = [newId('pod'), newId('ep')];
const at = new Date('2026-11-22T10:00:00.000Z');

beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  for (const table of ['inventory_unit', 'break_plan', 'serving_halt']) await bench.pool.query(`delete from ${table}`);
});

const unit = (id: string, kind: string, attributes: Record<string, unknown> = {}, state = 'active') =>
  eventOf('inventory_units', id, 1, state, {
    name: id,
    kind,
    source_ref: kind === 'show' ? { podcast_id: podcastId } : kind === 'network' ? {} : { episode_ids: [episodeId] },
    content_categories: [],
    ...attributes,
  });

/** A plan with one break, whose key names it. */
const plan = (key: string, units: readonly string[], attributes: Record<string, unknown> = {}, state = 'published') =>
  eventOf('break_plans', `brk_${key}`, 2, state, {
    name: key,
    inventory_unit_ids: units,
    breaks: [
      {
        key,
        position: 'pre',
        anchor: { kind: 'time', position_ms: 0 },
        max_slots: 1,
        max_duration_ms: 30_000,
        slot_rules: [],
      },
    ],
    min_gap_ms: 0,
    effective_at: '2026-11-20T10:00:00Z',
    ...attributes,
  });

const place = { workspaceId, podcastId, episodeId };
const found = async (where: Partial<typeof place> = {}) =>
  (await findBreakPlan(bench.pool, { ...place, ...where }, at))?.breaks[0]?.key;

test('the plan of an episode set goes before that of its show, of its network, of another network and of the workspace', async () => {
  const units = [
    unit('inv_set', 'episode_set'),
    unit('inv_show', 'show', { parent_id: 'inv_around' }),
    unit('inv_around', 'network'),
    unit('inv_other', 'network'),
  ];
  const plans = [
    plan('set', ['inv_set']),
    plan('show', ['inv_x', 'inv_show']),
    plan('around', ['inv_around']),
    plan('other', ['inv_other'], { effective_at: '2026-11-21T10:00:00Z' }),
    plan('all', [], { effective_at: '2026-11-21T11:00:00Z' }),
  ];
  await apply(bench, ...units, ...plans);
  for (const each of plans) {
    expect(await found()).toBe(each.after.attributes['name']);
    await apply(bench, next(each, {}, { state: 'retired' }));
  }
  expect(await found()).toBeUndefined();
});

test('of plans of one level the newest effective one counts, and a plan that names the unit before its default', async () => {
  await apply(
    bench,
    unit('inv_show', 'show', { default_break_plan: 'brk_default' }),
    plan('default', ['inv_elsewhere'], { effective_at: '2026-11-21T10:00:00Z' }),
  );
  expect(await found()).toBe('default');
  await apply(
    bench,
    plan('old', ['inv_show']),
    plan('new', ['inv_show'], { effective_at: '2026-11-20T11:00:00Z' }),
    plan('to-come', ['inv_show'], { effective_at: '2026-11-23T10:00:00Z' }),
    plan('draft', ['inv_show'], { effective_at: '2026-11-20T12:00:00Z' }, 'draft'),
  );
  expect(await found()).toBe('new');
});

test('a plan does not apply to an inactive unit, another show or another workspace', async () => {
  const show = unit('inv_show', 'show');
  await apply(bench, show, plan('show', ['inv_show']), plan('all', []));
  expect(await found()).toBe('show');
  expect(await found({ podcastId: newId('pod') })).toBe('all');
  expect(await found({ workspaceId: newId('ws') })).toBeUndefined();
  await apply(bench, next(show, {}, { state: 'paused' }));
  expect(await found()).toBe('all');
});

test('units that are parents of each other do not hang a query', async () => {
  await apply(
    bench,
    unit('inv_a', 'show', { parent_id: 'inv_b' }),
    unit('inv_b', 'network', { parent_id: 'inv_a' }),
    plan('b', ['inv_b']),
  );
  expect(await found()).toBe('b');
});

test('a plan without a time applies from its event on', async () => {
  const event = plan('now', [], { effective_at: undefined });
  await apply(bench, { ...event, occurred_at: '2026-11-22T10:00:00.001Z' });
  expect(await found()).toBeUndefined();
  await apply(bench, { ...next(event, {}), occurred_at: '2026-11-22T10:00:00.000Z' });
  expect(await found()).toBe('now');
});

test('a halt applies from its event until its release, whichever event comes first, and in its workspace only', async () => {
  const halt = eventOf('serving_halts', 'hlt_1', 1, 'active', {
    scope: { kind: 'creative', creative_id: 'crv_1' },
    cause: 'A complaint',
  });
  await apply(bench, halt, halt);
  expect(await listHalts(bench.pool, workspaceId)).toEqual([{ kind: 'creative', creative_id: 'crv_1' }]);
  expect(await listHalts(bench.pool, newId('ws'))).toEqual([]);
  await apply(bench, next(halt, {}, { state: 'released' }), halt);
  expect(await listHalts(bench.pool, workspaceId)).toEqual([]);
});
