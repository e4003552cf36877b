import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { fixtures, startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => gateway.reset({ served: true }));

const { id, workspace_id: workspaceId } = fixtures['episode_other']!;
const enclosureUrl = `http://media.test/delivery/v1/e/${id}/audio.mp3`;

test('a published episode shows the address of its audio, alone and in lists; no address is requested for a draft', async () => {
  expect(await (await gateway.get(`/episodes/${id}`)).json()).toMatchObject({ id, enclosure_url: enclosureUrl });
  gateway.scene.enclosures = [];
  const list = await gateway.get(`/podcasts/${fixtures['podcast_published']!.id}/episodes`);
  const shown = (await list.json()) as { id: string; enclosure_url?: string }[];
  expect(shown.find((episode) => episode.id === id)).toMatchObject({ enclosure_url: enclosureUrl });
  const draft = await gateway.get(`/episodes/${fixtures['episode']!.id}`);
  expect(await draft.json()).not.toHaveProperty('enclosure_url');
  expect(gateway.scene.enclosures).toEqual([{ workspaceId, episodeIds: [id] }]);
});

test('the address is requested in the workspace of the episode, also for a caller of another one', async () => {
  const episode = fixtures['episode_rich']!;
  expect((await gateway.get(`/episodes/${episode.id}`, 'rich')).status).toBe(200);
  expect(gateway.scene.enclosures).toEqual([{ workspaceId: episode.workspace_id, episodeIds: [episode.id] }]);
  gateway.scene.enclosures = [];
  expect((await gateway.get(`/episodes/${episode.id}`, 'stranger')).status).toBe(404);
  expect(gateway.scene.enclosures).toEqual([]);
});

test('a client that has the episode without its address gets it with a new tag; the version guard accepts both tags', async () => {
  await gateway.reset();
  const before = (await gateway.get(`/episodes/${id}`)).headers.get('etag')!;
  await gateway.reset({
    served: true,
    commands: { 'episode.revise': [{ resource: 'episode_other' }, { resource: 'episode_other' }] },
  });
  const known = await gateway.get(`/episodes/${id}`, 'owner', { 'if-none-match': before });
  expect(known.status).toBe(200);
  const after = known.headers.get('etag')!;
  expect((await gateway.get(`/episodes/${id}`, 'owner', { 'if-none-match': after })).status).toBe(304);
  for (const tag of [before, after]) {
    const revised = await fetch(`${gateway.url}/api/v1/episodes/${id}`, {
      method: 'PUT',
      headers: { token: 'owner', 'content-type': 'application/json', 'if-match': tag },
      body: JSON.stringify({ title: 'Two' }),
    });
    expect(revised.status).toBe(200);
  }
  expect(gateway.scene.commands.map(({ ifMatch }) => ifMatch)).toEqual([before, before]);
});
