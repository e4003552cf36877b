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

const managed = ['prn_1'];

/** The fields that a person with roles in another's workspace, whose own plan has no analytics, reads of a podcast there. */
async function fieldsFor(roles: readonly string[], inPlan: boolean) {
  const grants = [{ workspaceId: 'ws_org', podcastId: '', roles: [...roles], plan: plan(inPlan) }];
  const caller = { workspaceId: 'ws_own', roles: ['owner'], plan: plan(false), grants };
  const attributes = { title: 'A', collaborators: managed };
  const podcast = { id: 'pod_1', workspace_id: 'ws_org', lifecycle_state: 'published', attributes } as unknown;
  const context = { caller, deps: { mediaUrl: 'https://media.example' } } as unknown as Context;
  const found = await podcastView.findFields([podcast as Podcast], context);
  return found.get('pod_1');
}

test('a podcast says whether the caller may see its numbers: by the right to, and by the plan of its own account', async () => {
  expect(await fieldsFor(['viewer', 'analyst'], true)).toEqual({ analytics: 'available' });
  expect(await fieldsFor(['viewer', 'analyst'], false)).toEqual({ analytics: 'not_in_plan' });
  expect(await fieldsFor(['viewer', 'editor'], true)).toEqual({ analytics: 'not_permitted' });
});

test('collaborators are shown to those who manage them', async () => {
  expect(await fieldsFor(['viewer', 'manager'], true)).toEqual({ analytics: 'not_permitted', collaborators: managed });
});
