import { expect, test } from '@jest/globals';
import type { Attributes } from '@longwave/command-catalog';
import type { ResourceRow } from '@longwave/command-pipeline';
import { breakPlanOf } from './break-plan-of.ts';

const now = new Date('2026-11-22T10:00:00Z');
const stored = { workspace_id: 'ws', version: 1, digest: '', operation_id: '', created_at: now, updated_at: now };

function unit(id: string, attributes: Partial<Attributes<'inventory_units'>>): ResourceRow<'inventory_units'> {
  const base = { kind: 'network' as const, name: id, source_ref: {}, content_categories: [] };
  return {
    ...stored,
    id,
    resource_type: 'inventory_units',
    lifecycle_state: 'active',
    attributes: { ...base, ...attributes },
  };
}

function plan(
  id: string,
  unitIds: readonly string[],
  effectiveAt = '2026-11-01T00:00:00Z',
): ResourceRow<'break_plans'> {
  const attributes = {
    name: id,
    inventory_unit_ids: [...unitIds],
    breaks: [],
    min_gap_ms: 0,
    effective_at: effectiveAt,
  };
  return { ...stored, id, resource_type: 'break_plans', lifecycle_state: 'published', attributes };
}

const units = [
  unit('lone', {}),
  unit('around', { default_break_plan: 'default' }),
  unit('show', { kind: 'show', source_ref: { podcast_id: 'pod' }, parent_id: 'around' }),
  unit('set', { kind: 'episode_set', source_ref: { podcast_id: 'pod', episode_ids: ['ep'] } }),
];
const chosen = (...plans: ResourceRow<'break_plans'>[]) =>
  breakPlanOf({ plans, units }, { podcastId: 'pod', episodeId: 'ep' }, now)?.id;

test('the plan of the narrowest unit holds, then a unit’s default, then the newest, then that of the whole workspace', () => {
  const narrowing = [
    plan('workspace', []),
    plan('by-lone', ['lone']),
    plan('default', ['elsewhere']),
    plan('by-around', ['around']),
    plan('by-show', ['show']),
    plan('by-set', ['set', 'lone']),
  ];
  for (let count = 1; count <= narrowing.length; count++)
    expect(chosen(...narrowing.slice(0, count))).toBe(narrowing[count - 1]!.id);
  expect(chosen(plan('b', ['show']), plan('a', ['show'], '2026-11-02T00:00:00Z'))).toBe('a');
  expect(chosen(plan('b', ['show']), plan('a', ['show']))).toBe('b');
});

test('a plan whose time has not come, or that covers other inventory, does not hold', () => {
  expect(chosen(plan('later', ['set'], '2026-12-01T00:00:00Z'), plan('other', ['elsewhere']))).toBeUndefined();
});
