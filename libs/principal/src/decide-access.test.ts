import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { analyticsRoles, decideAccess, roles, type AccessNeed, type AccessTarget, type RoleHolder } from './index.ts';

const holder: RoleHolder<string> = {
  workspace_id: 'ws_own',
  roles: ['owner'],
  plan: 'grow',
  grants: [
    { workspace_id: 'ws_org', roles: ['editor'], plan: 'network' },
    { workspace_id: 'ws_org', podcast_id: 'pod_9', roles: ['editor', 'analyst'], plan: 'network' },
    { workspace_id: 'ws_one', podcast_id: 'pod_1', roles: ['editor', 'viewer'], plan: 'scale' },
    { workspace_id: 'ws_one', podcast_id: 'pod_1', roles: ['analyst', 'viewer'], plan: 'scale' },
    { workspace_id: 'ws_void', roles: [], plan: 'scale' },
  ],
};
const none = { outcome: 'unknown', roles: [], plan: undefined };
const own = { roles: ['owner'], plan: 'grow' };
const member = { roles: ['editor'], plan: 'network' };
const guest = { roles: ['editor', 'viewer', 'analyst'], plan: 'scale' };

describe('a decision', () => {
  test.each<[string, AccessTarget, AccessNeed, object]>([
    ['own, a podcast', { workspaceId: 'ws_own', podcastId: 'pod_1' }, {}, { outcome: 'permitted', ...own }],
    ['own, no podcast', { workspaceId: 'ws_own', podcastId: undefined }, {}, { outcome: 'permitted', ...own }],
    [
      'own, without the role',
      { workspaceId: 'ws_own', podcastId: undefined },
      { roles: ['finance'] },
      { outcome: 'denied', ...own },
    ],
    ['a member', { workspaceId: 'ws_org', podcastId: undefined }, {}, { outcome: 'permitted', ...member }],
    ['a member, any podcast', { workspaceId: 'ws_org', podcastId: 'pod_1' }, {}, { outcome: 'permitted', ...member }],
    [
      'a member, without the role',
      { workspaceId: 'ws_org', podcastId: 'pod_1' },
      { roles: analyticsRoles },
      { outcome: 'denied', ...member },
    ],
    [
      'a member with more on one podcast',
      { workspaceId: 'ws_org', podcastId: 'pod_9' },
      { roles: analyticsRoles },
      { outcome: 'permitted', roles: ['editor', 'analyst'], plan: 'network' },
    ],
    ['a guest, its podcast', { workspaceId: 'ws_one', podcastId: 'pod_1' }, {}, { outcome: 'permitted', ...guest }],
    ['a guest, another podcast', { workspaceId: 'ws_one', podcastId: 'pod_2' }, {}, none],
    ['a guest, the workspace', { workspaceId: 'ws_one', podcastId: undefined }, {}, none],
    ['a grant without roles', { workspaceId: 'ws_void', podcastId: undefined }, {}, none],
    ['elsewhere', { workspaceId: 'ws_else', podcastId: 'pod_1' }, { roles: ['owner'] }, none],
  ])('%s', (_name, target, need, expected) => {
    expect(decideAccess(holder, target, need)).toEqual(expected);
  });

  test('without a role in the own workspace nothing is permitted there, and nothing is unknown', () => {
    const target = { workspaceId: 'ws_own', podcastId: undefined };
    expect(decideAccess({ ...holder, roles: [] }, target).outcome).toBe('denied');
  });
});

describe('every decision', () => {
  const someRoles = fc.subarray([...roles], { maxLength: 3 });
  const workspace = fc.constantFrom('ws_1', 'ws_2', 'ws_3');
  const podcast = fc.constantFrom('pod_1', 'pod_2', undefined);
  const grant = fc.record({ workspace_id: workspace, podcast_id: podcast, roles: someRoles });
  const holders = fc.record({
    workspace_id: workspace,
    roles: someRoles,
    read_only: fc.boolean(),
    grants: fc.array(grant, { maxLength: 6 }),
  });
  const targets = fc.record({ workspaceId: workspace, podcastId: podcast });
  const needs = fc.record({ roles: someRoles, isWrite: fc.boolean() });

  test('does not depend on the order of the grants, but for the order of the roles', () => {
    fc.assert(
      fc.property(holders, targets, needs, (one, target, need) => {
        const forward = decideAccess(one, target, need);
        const backward = decideAccess({ ...one, grants: one.grants.toReversed() }, target, need);
        expect(backward.outcome).toBe(forward.outcome);
        expect(new Set(backward.roles)).toEqual(new Set(forward.roles));
      }),
    );
  });

  test('is changed by no grant that does not cover the target', () => {
    fc.assert(
      fc.property(holders, targets, needs, grant, (one, target, need, other) => {
        fc.pre(
          other.workspace_id !== target.workspaceId ||
            (other.podcast_id !== undefined && other.podcast_id !== target.podcastId),
        );
        const more = { ...one, grants: [...one.grants, other] };
        expect(decideAccess(more, target, need)).toEqual(decideAccess(one, target, need));
      }),
    );
  });

  test('permits only what one of the held roles allows, and no write with a credential that only reads', () => {
    fc.assert(
      fc.property(holders, targets, needs, (one, target, need) => {
        const { outcome, roles: held } = decideAccess(one, target, need);
        const isAllowed = need.roles.some((role) => held.includes(role)) && !(need.isWrite && one.read_only);
        expect(outcome === 'permitted').toBe(isAllowed);
        if (outcome === 'unknown') expect(target.workspaceId).not.toBe(one.workspace_id);
      }),
    );
  });

  test('whether something is unknown does not depend on what is asked to be done there', () => {
    fc.assert(
      fc.property(holders, targets, needs, needs, (one, target, need, another) => {
        const isUnknown = (asked: AccessNeed) => decideAccess(one, target, asked).outcome === 'unknown';
        expect(isUnknown(need)).toBe(isUnknown(another));
      }),
    );
  });
});
