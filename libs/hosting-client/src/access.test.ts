import { expect, test } from '@jest/globals';
import { accessTo } from './access.ts';

const plan = (name: string) => ({
  name,
  includesAnalytics: true,
  historyDays: undefined,
  encodingMsPerMonth: undefined,
  requestsPerMinute: 60,
  uploadUrlsPerMinute: 240,
});
const caller = {
  workspaceId: 'ws_own',
  roles: ['owner'],
  plan: plan('grow'),
  grants: [
    { workspaceId: 'ws_org', podcastId: '', roles: ['editor'], plan: plan('network') },
    { workspaceId: 'ws_one', podcastId: 'pod_1', roles: ['editor', 'viewer'], plan: plan('scale') },
    { workspaceId: 'ws_one', podcastId: 'pod_1', roles: ['analyst', 'viewer'], plan: plan('scale') },
  ],
};
const seen = (workspaceId: string, podcastId: string | undefined) => {
  const access = accessTo(caller, workspaceId, podcastId);
  return access && { roles: access.roles, plan: access.plan.name };
};

test('in the own workspace the own roles and plan hold, for every podcast and for none', () => {
  for (const podcastId of ['pod_1', undefined])
    expect(seen('ws_own', podcastId)).toEqual({ roles: ['owner'], plan: 'grow' });
});

test("a member of an organization has the member's roles and the owner's plan in all of its workspace", () => {
  for (const podcastId of ['pod_1', undefined])
    expect(seen('ws_org', podcastId)).toEqual({ roles: ['editor'], plan: 'network' });
});

test('a grant for one podcast gives nothing in the rest of its workspace; several grants add up', () => {
  expect(seen('ws_one', 'pod_1')).toEqual({ roles: ['editor', 'viewer', 'analyst'], plan: 'scale' });
  expect(seen('ws_one', 'pod_2')).toBeUndefined();
  expect(seen('ws_one', undefined)).toBeUndefined();
});

test('a workspace without a grant is invisible', () => {
  expect(seen('ws_else', 'pod_1')).toBeUndefined();
});
