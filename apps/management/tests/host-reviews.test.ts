import { expect, test } from '@jest/globals';
import type { Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { api, management } from './_shared-http.ts';
import { person, publisherOf } from './_values.ts';
import { createWorld } from './_world.ts';

/** A podcast with a publisher of its own, in a workspace whose owner sends commands over HTTP. */
async function hosted() {
  const world = createWorld(management);
  const [owner, podcast] = [await world.known(), await world.podcast()];
  const { actor } = await world.granted({ role: 'publisher', scope_filter: { podcast_ids: [podcast.id] } });
  const [host, asOwner] = [publisherOf(world.workspaceId, podcast.id, actor), owner.actor].map((one) =>
    api.tokenFor(one),
  );
  const at = `/workspaces/${world.workspaceId}`;
  const send = (as: string | undefined, type: string, subject: ResourceView, changes: object) =>
    api.call(`${at}/commands/${type}`, {
      token: as,
      headers: { 'idempotency-key': newId('req') },
      body: { subject: { type: subject.resource_type, id: subject.id, version: subject.version }, changes },
    });
  const read = (path: string, as = host) => api.call(`${at}/resources/${path}`, { token: as });
  /** The task of a command that the owner sends and that waits for the host. */
  const waiting = async (type: string, subject: ResourceView, changes: object) => {
    const answer = await send(asOwner, type, subject, changes);
    expect([answer.status, answer.json.state]).toEqual([202, 'waiting_review']);
    return (await read(`review_tasks/${answer.json.review_task_id}`)).json as ResourceView;
  };
  const approve = (task: ResourceView) => send(host, 'review.approve', task, {});
  return { world, podcast, read, waiting, approve, asOwner };
}

test('the publisher of one podcast sees the ad to approve with its advertiser, address and duration, though no advertising else', async () => {
  const { world, podcast, read, waiting, approve, asOwner } = await hosted();
  const click_url = 'https://tidewater.example/offer';
  const ad = await world.hostReadCreative({ click_url });
  const task = await waiting('creative.submit', ad, { disclosure: 'Advertisement', host_podcast_id: podcast.id });
  const { status, json, text } = await read(`review_tasks/${task.id}/difference`);
  expect(status).toBe(200);
  expect(json.subject).toMatchObject({
    ...{ type: 'creatives', id: ad.id, version: ad.version, lifecycle_state: 'processing' },
    attributes: { name: 'By the host', production: 'host_read', duration_ms: 24, click_url },
    advertiser_name: 'Tidewater',
  });
  expect(json.difference).toContainEqual({ op: 'add', path: '/attributes/disclosure', value: 'Advertisement' });
  for (const hidden of ['storage_key', 'sha256']) expect(text).not.toContain(hidden);
  for (const path of [
    `creatives/${ad.id}`,
    `creatives/${ad.id}/versions`,
    `advertisers/${String(ad.attributes['advertiser_id'])}`,
  ])
    expect([path, (await read(path)).status]).toEqual([path, 404]);
  const inFull = (await read(`review_tasks/${task.id}/difference`, asOwner)).json.subject;
  expect(inFull.attributes).toEqual((await read(`creatives/${ad.id}`, asOwner)).json.attributes);
  expect((await approve(task)).status).toBe(200);
});

test('the publisher of one podcast sees the breaks of the plan to approve', async () => {
  const { world, podcast, read, waiting, approve } = await hosted();
  const plan = await world.breakPlan([(await world.show(podcast.id)).id]);
  const task = await waiting('break_plan.publish', plan, {});
  const { json } = await read(`review_tasks/${task.id}/difference`);
  expect(json.subject).toMatchObject({ id: plan.id, attributes: { name: plan.attributes['name'] } });
  expect(json.subject.attributes.breaks).toEqual(plan.attributes['breaks']);
  expect((await approve(task)).status).toBe(200);
});

test('a collaborator of the podcast who does not decide sees what a review would change, and nothing else of its subject', async () => {
  const { world, podcast, read, waiting } = await hosted();
  const plan = await world.breakPlan([(await world.show(podcast.id)).id]);
  const task = await waiting('break_plan.publish', plan, {});
  const stranger = person(newId('ws'));
  if (stranger.kind !== 'principal') throw new Error('a person');
  const grants = [{ workspace_id: world.workspaceId, podcast_id: podcast.id, roles: ['viewer' as const] }];
  const viewer: Actor = { ...stranger, principal: { ...stranger.principal, grants } };
  const { status, json } = await read(`review_tasks/${task.id}/difference`, api.tokenFor(viewer));
  expect([status, json.subject]).toEqual([200, { type: 'break_plans', id: plan.id, version: plan.version }]);
});
