import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import { createResourceReader, type Actor, type ResourceReader } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { Grant } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { createAccess, type Access } from '../src/workspace/access/access.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { person } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let reader: ResourceReader;
let access: Access;
beforeAll(async () => {
  management = await startTestManagement();
  reader = createResourceReader({
    pool: management.pool,
    schema: 'product',
    catalog: productCatalog,
    cursorKey: randomBytes(32),
    clock: () => new Date(),
  });
  access = createAccess(management.pool);
});
afterAll(async () => {
  await reader?.[Symbol.asyncDispose]();
  await management?.[Symbol.asyncDispose]();
});

let owner: World;
/** Resources below the shared podcast, and below another podcast of the same owner. */
let shared: { podcast: ResourceView; episode: ResourceView; production: ResourceView };
let other: { podcast: ResourceView; episode: ResourceView; production: ResourceView };
beforeEach(async () => {
  owner = createWorld(management);
  shared = await podcastWithProduction();
  other = await podcastWithProduction();
});

async function podcastWithProduction() {
  const podcast = await owner.podcast();
  const episode = await owner.send('episode.create', null, { podcast_id: podcast.id, title: 'One' });
  const production = await owner.send('production.create', null, {
    episode_id: episode.id,
    file_url: (await owner.upload()).attributes['file_url'],
  });
  return { podcast, episode, production };
}

/** A person of another workspace, with grants in the owner's. */
function someone(...grants: readonly Omit<Grant, 'workspace_id'>[]): Actor {
  const actor = person(newId('ws'));
  if (actor.kind !== 'principal') throw new Error('a person');
  const placed = grants.map((grant) => ({ ...grant, workspace_id: owner.workspaceId }));
  return { ...actor, principal: { ...actor.principal, grants: placed } };
}
const collaborator = () => someone({ podcast_id: shared.podcast.id, roles: ['viewer', 'editor'] });
const member = () => someone({ roles: ['viewer'] });

const codeOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'seen',
    (error: unknown) => (error instanceof Problem ? `${error.code}: ${error.message}` : String(error)),
  );

describe('seeing', () => {
  test('a collaborator sees its podcast and what lies below it, and learns to which podcast that belongs', async () => {
    for (const each of Object.values(shared))
      expect(await access.getVisible(collaborator(), undefined, each.resource_type, each.id)).toMatchObject({
        resource: { id: each.id },
        podcastId: shared.podcast.id,
      });
  });

  test("a collaborator sees nothing else: another podcast of the owner, its parts and its uploads look like ids that don't exist", async () => {
    const upload = await owner.upload();
    const advertiser = await owner.advertiser();
    for (const each of [...Object.values(other), upload, advertiser])
      for (const actor of [collaborator(), someone()]) {
        const missing = newId(each.id.split('_')[0]!);
        const hidden = await codeOf(access.getVisible(actor, undefined, each.resource_type, each.id));
        expect(hidden).toMatch(/^not_found/);
        expect(hidden.replace(each.id, 'ID')).toBe(
          (await codeOf(access.getVisible(actor, undefined, each.resource_type, missing))).replace(missing, 'ID'),
        );
      }
  });

  test('a member of the organization sees everything in its workspace, also by the role that may change nothing', async () => {
    for (const each of [...Object.values(shared), ...Object.values(other)])
      expect(await codeOf(access.getVisible(member(), undefined, each.resource_type, each.id))).toBe('seen');
  });

  test('a resource is found in its own workspace, and in no other that a request names', async () => {
    const { podcast } = shared;
    expect(await codeOf(access.getVisible(owner.actor, owner.workspaceId, 'podcasts', podcast.id))).toBe('seen');
    expect(await codeOf(access.getVisible(owner.actor, newId('ws'), 'podcasts', podcast.id))).toMatch(/^not_found/);
  });
});

describe('listing', () => {
  const list = async (actor: Actor, type: string, links: Record<string, string> = {}) =>
    (
      await reader.listResources({
        scopes: await access.scopes(actor, undefined, type, links),
        resourceType: type,
        links,
        limit: 200,
      })
    ).resources.map(({ id }) => id);

  test('a list without a workspace has everything visible: the own, the shared, the organization’s', async () => {
    const guest = createWorld(management);
    const own = await guest.podcast();
    const actor = collaborator();
    if (actor.kind !== 'principal') throw new Error('a person');
    const both: Actor = { ...actor, principal: { ...actor.principal, workspace_id: guest.workspaceId } };
    expect((await list(both, 'podcasts')).sort()).toEqual([own.id, shared.podcast.id].sort());
    expect((await list(member(), 'podcasts')).sort()).toEqual([shared.podcast.id, other.podcast.id].sort());
    expect(await list(someone(), 'podcasts')).toEqual([]);
    expect(await list(collaborator(), 'episodes')).toEqual([shared.episode.id]);
    expect(await list(collaborator(), 'productions')).toEqual([shared.production.id]);
    expect(await list(collaborator(), 'uploads')).toEqual([]);
  });

  test('an actor lists the children of a parent exactly when it sees the parent', async () => {
    const below = { podcast: shared.podcast.id };
    expect(await list(collaborator(), 'episodes', below)).toEqual([shared.episode.id]);
    expect(await list(collaborator(), 'productions', { episode: shared.episode.id })).toEqual([shared.production.id]);
    expect(await list(collaborator(), 'episodes', { podcast: other.podcast.id })).toEqual([]);
    expect(await list(collaborator(), 'productions', { episode: other.episode.id })).toEqual([]);
    expect(await list(someone(), 'episodes', below)).toEqual([]);
  });
});

describe('acting', () => {
  test('a command that names no workspace acts in that of its subject, if its sender sees the subject', async () => {
    for (const { resource_type: subjectType, id: subjectId } of [shared.podcast, shared.episode, shared.production]) {
      const target = { workspaceId: '', subjectType, subjectId, changes: {} };
      for (const actor of [owner.actor, collaborator(), member()])
        expect(await access.actorAt(actor, target)).toMatchObject({
          workspaceId: owner.workspaceId,
          actor: { podcastId: shared.podcast.id },
          subject: { id: subjectId },
        });
      const missing = newId(subjectId.split('_')[0]!);
      const unknown = await codeOf(access.actorAt(someone(), { ...target, subjectId: missing }));
      expect(unknown).toMatch(/^not_found/);
      expect((await codeOf(access.actorAt(someone(), target))).replace(subjectId, missing)).toBe(unknown);
    }
    const create = { workspaceId: '', subjectType: 'podcasts', subjectId: null, changes: {} };
    expect(await codeOf(access.actorAt(owner.actor, create))).toMatch(/^not_found/);
  });

  async function send(actor: Actor, commandType: string, type: string, id: string | null, changes: object) {
    const target = { workspaceId: owner.workspaceId, subjectType: type, subjectId: id, changes };
    const { actor: placed } = await access.actorAt(actor, target);
    return management.execute(
      {
        workspaceId: owner.workspaceId,
        commandType,
        idempotencyKey: newId('req'),
        subject: { type, id },
        changes,
      },
      placed,
    );
  }

  test('a collaborator changes what its role allows, on its podcast only', async () => {
    const { podcast, episode } = shared;
    await send(collaborator(), 'podcast.revise', 'podcasts', podcast.id, { title: 'New' });
    await send(collaborator(), 'episode.revise', 'episodes', episode.id, { title: 'New' });
    const created = await send(collaborator(), 'episode.create', 'episodes', null, {
      podcast_id: podcast.id,
      title: 'Two',
    });
    expect(created.resource?.workspace_id).toBe(owner.workspaceId);
    expect(await codeOf(send(collaborator(), 'podcast.archive', 'podcasts', podcast.id, {}))).toMatch(
      /^permission_denied/,
    );
    expect(await codeOf(send(collaborator(), 'episode.revise', 'episodes', other.episode.id, { title: 'X' }))).toMatch(
      /^not_found/,
    );
    const elsewhere = { podcast_id: other.podcast.id, title: 'X' };
    expect(await codeOf(send(collaborator(), 'episode.create', 'episodes', null, elsewhere))).toMatch(/^not_found/);
  });

  test('a member acts with its permissions, a viewer with none', async () => {
    const changes = { title: 'New' };
    const { id } = other.podcast;
    expect(await codeOf(send(member(), 'podcast.revise', 'podcasts', id, changes))).toMatch(/^permission_denied/);
    await send(someone({ roles: ['viewer', 'editor'] }), 'podcast.revise', 'podcasts', id, changes);
  });

  test('a stranger gets the same answer for an existing subject as for a missing one', async () => {
    const missing = newId('pod');
    const answer = (id: string) =>
      codeOf(send(someone(), 'podcast.revise', 'podcasts', id, {})).then((text) => text.replace(id, 'ID'));
    expect(await answer(shared.podcast.id)).toBe(await answer(missing));
  });
});

describe('below what was archived', () => {
  /** Every resource below one podcast and its one episode. */
  async function family() {
    const { podcast, episode, production } = await podcastWithProduction();
    await owner.setEncodingLimit(null);
    const batch = await owner.send('batch_encoding.start', null, { podcast_id: podcast.id, initiator: 'loudness' });
    return { podcast, episode, production, batch };
  }
  const current = async ({ id, resource_type: type }: ResourceView) =>
    (await access.getVisible(owner.actor, owner.workspaceId, type, id)).resource;
  const hidden = async (actor: Actor, { id, resource_type: type }: ResourceView) => {
    const missing = newId(id.split('_')[0]!);
    const answer = (await codeOf(access.getVisible(actor, undefined, type, id))).replace(id, 'ID');
    return answer === (await codeOf(access.getVisible(actor, undefined, type, missing))).replace(missing, 'ID');
  };
  const list = async (actor: Actor, type: string, links: Record<string, string>) => {
    const scopes = await access.scopes(actor, owner.workspaceId, type, links);
    return (await reader.listResources({ scopes, resourceType: type, links })).resources.map(({ id }) => id);
  };
  const act = (actor: Actor, type: string, id: string | null, changes: object = {}) =>
    codeOf(
      access
        .actorAt(actor, { workspaceId: owner.workspaceId, subjectType: type, subjectId: id, changes })
        .then(({ refusal }) => {
          if (refusal) throw refusal;
        }),
    );
  const watchers = () => [owner.actor, someone({ roles: ['viewer', 'editor', 'producer'] })];

  test('people cannot see, list or command anything below an archived podcast, neither its owner nor its organization', async () => {
    const { podcast, episode, production, batch } = await family();
    await owner.send('podcast.archive', podcast, {});
    for (const actor of watchers()) {
      for (const each of [episode, production, batch]) {
        expect(await hidden(actor, each)).toBe(true);
        expect(await act(actor, each.resource_type, each.id)).toMatch(/^not_found/);
      }
      expect(await list(actor, 'episodes', { podcast: podcast.id })).toEqual([]);
      expect(await list(actor, 'batch_encodings', { podcast: podcast.id })).toEqual([]);
      expect(await list(actor, 'productions', { episode: episode.id })).toEqual([]);
      expect(await act(actor, 'episodes', null, { podcast_id: podcast.id })).toMatch(/^not_found/);
      expect(await act(actor, 'productions', null, { episode_id: episode.id })).toMatch(/^not_found/);
    }
  });

  test('the same holds below an archived episode; its podcast and the other episodes are not affected', async () => {
    const { podcast, episode, production, batch } = await family();
    const sibling = await owner.send('episode.create', null, { podcast_id: podcast.id, title: 'Two' });
    await owner.send('episode.archive', await current(episode), {});
    for (const actor of watchers()) {
      expect(await hidden(actor, production)).toBe(true);
      expect(await act(actor, 'productions', production.id)).toMatch(/^not_found/);
      expect(await act(actor, 'productions', null, { episode_id: episode.id })).toMatch(/^not_found/);
      expect(await act(actor, 'media_clips', null, { episode_id: episode.id })).toMatch(/^not_found/);
      expect(await list(actor, 'productions', { episode: episode.id })).toEqual([]);
      for (const each of [podcast, sibling, batch]) {
        expect(await hidden(actor, each)).toBe(false);
        expect(await act(actor, each.resource_type, each.id)).toBe('seen');
      }
    }
  });

  test('the archived one itself stays readable, and services see and act below it as before', async () => {
    const { podcast, episode, production } = await family();
    await owner.send('episode.archive', await current(episode), {});
    expect((await current(episode)).lifecycle_state).toBe('archived');
    await owner.send('podcast.archive', podcast, {});
    expect((await current(podcast)).lifecycle_state).toBe('archived');
    for (const name of ['operator', 'encoder'] as const) {
      const actor: Actor = { kind: 'service', name };
      expect(await access.getVisible(actor, undefined, 'productions', production.id)).toMatchObject({
        podcastId: podcast.id,
      });
      expect(await act(actor, 'productions', production.id)).toBe('seen');
      expect(await list(actor, 'productions', { episode: episode.id })).toEqual([production.id]);
    }
  });

  test('an archived parent of another account looks like one that does not exist', async () => {
    const { podcast } = await family();
    await owner.send('podcast.archive', podcast, {});
    const guest = createWorld(management);
    const target = (id: string) => ({
      workspaceId: guest.workspaceId,
      subjectType: 'episodes',
      subjectId: null,
      changes: { podcast_id: id },
    });
    expect(await codeOf(access.actorAt(guest.actor, target(podcast.id)))).toBe(
      await codeOf(access.actorAt(guest.actor, target(newId('pod')))),
    );
  });
});

describe('inviting a collaborator', () => {
  const invite = async (actor: Actor, role: string) => {
    const { id, resource_type: type } = shared.podcast;
    const changes = { email: 'mary@harbour.example', role };
    const target = { workspaceId: owner.workspaceId, subjectType: type, subjectId: id, changes };
    const { actor: placed } = await access.actorAt(actor, target);
    return codeOf(
      management.execute(
        {
          workspaceId: owner.workspaceId,
          commandType: 'podcast.invite_collaborator',
          idempotencyKey: newId('req'),
          subject: { type, id },
          changes,
        },
        placed,
      ),
    );
  };

  test('a manager grants only roles that it has itself', async () => {
    const manager = someone({ roles: ['viewer', 'manager'] });
    expect(await invite(manager, 'editor')).toMatch(/^permission_denied/);
    expect(await invite(manager, 'analyst')).toMatch(/^permission_denied/);
    const partly = someone({ roles: ['viewer', 'manager', 'editor'] });
    expect(await invite(partly, 'editor')).toMatch(/^permission_denied/);
    const analyst = someone({ roles: ['viewer', 'manager', 'analyst'] });
    expect(await invite(analyst, 'editor')).toMatch(/^permission_denied/);
    expect(await invite(analyst, 'analyst')).toBe('seen');
    const whole = someone({ roles: ['viewer', 'manager', 'editor', 'producer', 'scheduler'] });
    expect(await invite(whole, 'editor')).toBe('seen');
    expect(await invite(whole, 'analyst')).toMatch(/^permission_denied/);
  });

  test('the owner and the operator grant any role', async () => {
    const alone = person(owner.workspaceId, ['owner']);
    for (const role of ['editor', 'analyst']) expect(await invite(alone, role)).toBe('seen');
    expect(await invite({ kind: 'service', name: 'operator' }, 'editor')).toBe('seen');
  });
});
