import { expect, test } from '@jest/globals';
import { podcastView } from './podcast-view.ts';

type Podcast = Parameters<typeof podcastView.render>[0];
type Context = Parameters<typeof podcastView.render>[1];

const plan = (includesAnalytics: boolean) => ({
  name: includesAnalytics ? 'grow' : 'launch',
  includesAnalytics,
  historyDays: undefined,
  encodingMsPerMonth: undefined,
  requestsPerMinute: 60,
  uploadUrlsPerMinute: 240,
});

/** What a person with roles in another's workspace, whose own plan has no analytics, reads of numbers of a podcast there. */
function analyticsFor(roles: readonly string[], inPlan: boolean) {
  const grants = [{ workspaceId: 'ws_org', podcastId: '', roles: [...roles], plan: plan(inPlan) }];
  const caller = { workspaceId: 'ws_own', roles: ['owner'], plan: plan(false), grants };
  const podcast = { id: 'pod_1', workspace_id: 'ws_org', lifecycle_state: 'published', attributes: { title: 'A' } };
  const context = { caller, deps: { mediaUrl: 'https://media.example' } } as unknown;
  return podcastView.render(podcast as unknown as Podcast, context as Context).analytics;
}

test('a podcast says whether the caller may see its numbers: by the right to, and by the plan of its own account', () => {
  expect(analyticsFor(['viewer', 'analyst'], true)).toBe('available');
  expect(analyticsFor(['viewer', 'analyst'], false)).toBe('not_in_plan');
  expect(analyticsFor(['viewer', 'editor'], true)).toBe('not_permitted');
});
