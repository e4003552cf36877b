import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Principal } from '@longwave/principal';
import { startTestManagement, type TestManagement } from './_management.ts';
import { guestIn, person } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

describe('who may not publish an episode', () => {
  const refusal = {
    code: 'permission_denied',
    status: 403,
    message: "You don't have the permission to publish.",
  };

  test('publishes none through a production: neither by its flag nor by its start', async () => {
    const world = createWorld(management);
    await world.setEncodingLimit(null);
    const producer = person(world.workspaceId, ['viewer', 'producer']);
    const episode_id = (await world.episode()).id;
    const file_url = (await world.upload()).attributes['file_url'];
    const created = { episode_id, file_url };
    await expect(
      world.send('production.create', null, { ...created, publication_flag: true }, producer),
    ).rejects.toMatchObject(refusal);
    const production = await world.send('production.create', null, { ...created, publication_flag: false }, producer);
    await expect(
      world.send('production.revise', production, { publication_flag: true }, producer),
    ).rejects.toMatchObject(refusal);
    const { probes } = management;
    await expect(world.send('production.start', production, { publish_episode: true }, producer)).rejects.toMatchObject(
      refusal,
    );
    expect(management.probes).toBe(probes);
    const started = await world.send('production.start', production, { publish_episode: false }, producer);
    expect(started.attributes).toMatchObject({ publication_flag: false });
  });

  test('is judged by the roles in the podcast’s workspace, not by those in the own one', async () => {
    const world = createWorld(management);
    await world.setEncodingLimit(null);
    const production = await world.production();
    const guest = createWorld(management).actor;
    const publish = (roles: Principal['roles']) =>
      world.send('production.start', production, { publish_episode: true }, guestIn(world.workspaceId, guest, roles));
    await expect(publish(['viewer', 'producer'])).rejects.toMatchObject(refusal);
    expect((await publish(['producer', 'scheduler'])).attributes).toMatchObject({ publication_flag: true });
  });

  test('keeps a flag that another person set, and may clear it', async () => {
    const world = createWorld(management);
    await world.setEncodingLimit(null);
    const producer = person(world.workspaceId, ['viewer', 'producer']);
    const flagged = await world.send('production.revise', await world.production(), { publication_flag: true });
    const kept = await world.send('production.revise', flagged, { publication_flag: true }, producer);
    const started = await world.send('production.start', kept, {}, producer);
    expect(started.attributes).toMatchObject({ publication_flag: true });
    const back = await world.send('production.revise', started, { publication_flag: false }, producer);
    expect(back.attributes).toMatchObject({ publication_flag: false });
  });
});
