import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { productCatalog, type CommandDefinition, type ProductCommand } from '@longwave/command-catalog';
import { permissionProblem, subjectOf, type Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { roles, signPrincipal, type Grant, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { exportJWK, generateKeyPair } from 'jose';
import type { Access } from '../src/workspace/access/access.ts';
import { examples } from './_examples.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { serveManagement } from './_serve.ts';
import { person, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let gateway: Awaited<ReturnType<typeof serveManagement>>;
let access: Access;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  gateway = stack.use(await serveManagement(management));
  access = gateway.access;
});
afterAll(() => stack.disposeAsync());

type PlacedGrant = Omit<Grant, 'workspace_id'>;

/** A person with an account of its own, and grants in the owner's workspace. */
function someone(owner: World, ...grants: readonly PlacedGrant[]): Principal {
  const actor = person(newId('ws'));
  if (actor.kind !== 'principal') throw new Error('a person');
  return { ...actor.principal, grants: grants.map((grant) => ({ ...grant, workspace_id: owner.workspaceId })) };
}
const asActor = (principal: Principal): Actor => ({ kind: 'principal', principal });
const speaksFor = (principal: Principal) => gateway.speaksFor(principal);

/** A client's answer as text, with the requested ids replaced by ID. */
async function heard(answer: Promise<unknown>, ...ids: readonly string[]): Promise<string> {
  const said = await answer.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      return { code: error.code, status: error.status, detail: error.message, context: error.context };
    },
  );
  const text = JSON.stringify(said, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return ids.reduce((all, id) => all.replaceAll(id, 'ID'), text);
}

const types = Object.keys(productCatalog.resources) as (keyof typeof productCatalog.resources)[];

/** A resource of the type in the owner's workspace, with the operation that made it. */
async function made(owner: World, type: string): Promise<ResourceView> {
  // No command makes a review task: it comes with the command that waits for it.
  if (type === 'review_tasks') {
    const { id } = (await owner.waiting()).task;
    const { resource } = await access.getVisible(service('operator'), owner.workspaceId, type, id);
    return resource;
  }
  const [command] = Object.values(productCatalog.commands as Readonly<Record<string, CommandDefinition>>).filter(
    ({ subject, from }) => subject === type && from === null,
  );
  const { subject, changes, actor, reason } = await examples[command!.type as ProductCommand](owner);
  const request = { workspaceId: owner.workspaceId, commandType: command!.type, idempotencyKey: newId('req') };
  // A person's request for a new one may have to wait for its review.
  const sender = ['single', 'dual'].includes(command!.review) ? service('operator') : actor;
  return subjectOf(await management.execute({ ...request, subject, changes, reason }, sender));
}

describe.each(types)('to whoever may not see it, one of the %s', (type) => {
  test('answers like an id that does not exist: read, operation, every command, any workspace named', async () => {
    const owner = createWorld(management);
    const resource = await made(owner, type);
    const elsewhere = await owner.podcast();
    const strangers = [someone(owner), someone(owner, { podcast_id: elsewhere.id, roles: ['viewer', 'editor'] })];
    const { operation_id: operationId } = resource.updated_by;
    const { prefix } = productCatalog.resources[type];
    const own = [resource.id, operationId] as const;
    const missing = [newId(prefix), newId('op')] as const;

    for (const stranger of strangers) {
      const context = await speaksFor(stranger);
      for (const workspaceId of ['', owner.workspaceId, stranger.workspace_id]) {
        const asks = (ids: readonly [string, string]) => {
          const [resourceId, operation] = ids;
          const subject = { workspaceId, resourceType: type, resourceId };
          return Promise.all([
            heard(gateway.resources.getResource(subject, context), ...ids),
            heard(gateway.operations.getOperation({ workspaceId, operationId: operation }, context), ...ids),
          ]);
        };
        const answers = await asks(own);
        expect(answers).toEqual(await asks(missing));
        for (const answer of answers) expect(answer).toContain('not_found');
        const listed = { workspaceId, resourceType: type, links: {}, lifecycleStates: [], limit: 200, cursor: '' };
        const { resourcesJson } = await gateway.resources.listResources(listed, context);
        expect(resourcesJson.join()).not.toContain(resource.id);
      }
      for (const command of Object.values(productCatalog.commands as Readonly<Record<string, CommandDefinition>>)) {
        if (command.subject !== type || command.from === null) continue;
        const send = (subjectId: string) =>
          heard(
            gateway.commands.execute(
              {
                workspaceId: owner.workspaceId,
                commandType: command.type,
                idempotencyKey: newId('req'),
                ifMatch: '',
                subjectType: type,
                subjectId,
                subjectVersion: 1,
                changesJson: '{}',
                reasonJson: '',
              },
              context,
            ),
            subjectId,
          );
        const answer = await send(resource.id);
        expect(answer).toBe(await send(missing[0]));
        expect(answer).toContain('not_found');
      }
    }
  });
});

const commands = Object.values(productCatalog.commands as Readonly<Record<string, CommandDefinition>>);

test('a member may send exactly the commands that the catalog names for its roles', async () => {
  for (const definition of commands) {
    const owner = createWorld(management);
    const { subject, changes } = await examples[definition.type as ProductCommand](owner);
    const subjectId = definition.from === null ? null : subject.id;
    const target = { workspaceId: owner.workspaceId, subjectType: subject.type, subjectId, changes };
    for (const role of roles) {
      const { actor } = await access.actorAt(asActor(someone(owner, { roles: ['viewer', role] })), target);
      const allowed = definition.roles.includes(role) || definition.roles.includes('viewer');
      const denial = permissionProblem(definition, actor, owner.workspaceId);
      expect(denial?.message).toBe(allowed ? undefined : `You may not send ${definition.type}.`);
    }
  }
});

test('uploads are signed and encoding time is shown only to those who see the whole workspace', async () => {
  const owner = createWorld(management);
  const { id: podcastId } = await owner.podcast();
  const upload = await owner.upload();
  const sign = async (principal: Principal, workspaceId = owner.workspaceId) =>
    heard(gateway.uploads.signUpload({ workspaceId, uploadId: upload.id }, await speaksFor(principal)));
  const time = async (principal: Principal, workspaceId = owner.workspaceId) =>
    heard(gateway.encodingTime.getEncodingTime({ workspaceId }, await speaksFor(principal)));

  const producer = someone(owner, { roles: ['viewer', 'producer'] });
  expect(await sign(producer)).toContain('"url"');
  expect(await time(producer)).toContain('"month"');
  const viewer = someone(owner, { roles: ['viewer'] });
  expect(await sign(viewer)).toContain('permission_denied');
  expect(await time(viewer)).toContain('"month"');
  for (const outsider of [someone(owner), someone(owner, { podcast_id: podcastId, roles: ['viewer', 'producer'] })]) {
    expect(await sign(outsider)).toBe(await sign(outsider, newId('ws')));
    expect(await time(outsider)).toBe(await time(outsider, newId('ws')));
    expect(await time(outsider)).toContain('not_found');
  }
});

test('only an actor that sees a production gets its place in the queue', async () => {
  const owner = createWorld(management);
  await owner.setEncodingLimit(null);
  const waiting = await owner.send('production.start', await owner.production(), {});
  const place = async (principal: Principal, workspaceId = owner.workspaceId) =>
    heard(
      gateway.encodingQueue.getQueuePlace({ workspaceId, productionId: waiting.id }, await speaksFor(principal)),
      waiting.id,
    );
  expect(await place(someone(owner, { roles: ['viewer'] }))).toMatch(/"position":[1-9]/);
  const outsider = someone(owner);
  expect(await place(outsider)).toContain('not_found');
  expect(await place(outsider)).toBe(await place(outsider, newId('ws')));
});

test('whoever sees a production gets its peaks, and its audio only who may change the recording or set breaks', async () => {
  const owner = createWorld(management);
  const { production, lease } = await owner.encoding();
  const waveform = { role: 'waveform', format: 'json', storage_key: `media/${newId('upl')}`, size_bytes: 1 };
  const files = [...owner.completion.files, { ...waveform, sha256: 'b'.repeat(64) }];
  for (const { storage_key: key } of files)
    await management.store.put(key, Buffer.from('1'), { contentType: 'application/json' });
  await owner.send('production.complete', production, { ...owner.completion, files }, service('encoder'), lease);
  const sign = async (principal: Principal) =>
    heard(
      gateway.uploads.signWaveform(
        { workspaceId: owner.workspaceId, productionId: production.id },
        await speaksFor(principal),
      ),
    );
  const hearing: string[] = [];
  for (const role of roles) {
    const said = await sign(someone(owner, { roles: ['viewer', role] }));
    expect(said).toContain('"url"');
    if (said.includes('"audioUrl"')) hearing.push(role);
  }
  expect(hearing.sort()).toEqual(['editor', 'owner', 'producer']);
  expect(await sign(someone(owner))).toContain('not_found');
});

test('a finished export is signed for actors that may see the analytics of its podcast, also with a read-only credential', async () => {
  const owner = createWorld(management);
  const podcast = await owner.podcast();
  const started = await owner.send('statistics_export.start', null, { podcast_id: podcast.id });
  const lease = await owner.lease('export_statistics', started.id);
  const file = { storage_key: 'exports/a.csv', sha256: 'a'.repeat(64), size_bytes: 1, row_count: 1 };
  await owner.send('statistics_export.record', started, { file }, service('management'), lease);
  const sign = async (principal: Principal, exportId = started.id) =>
    heard(
      gateway.uploads.signExport({ workspaceId: owner.workspaceId, exportId }, await speaksFor(principal)),
      exportId,
    );

  for (const role of roles)
    expect(await sign(someone(owner, { roles: ['viewer', role] }))).toContain(
      ['owner', 'admin', 'publisher', 'analyst'].includes(role) ? '"url"' : 'permission_denied',
    );
  const analyst = someone(owner, { podcast_id: podcast.id, roles: ['viewer', 'analyst'] });
  expect(await sign({ ...analyst, read_only: true })).toContain('"url"');
  expect(await sign(someone(owner))).toBe(await sign(someone(owner), newId('sxp')));
});

test('a listing of everything visible pages in order of creation, and its cursor is refused to anybody else', async () => {
  const [owner, guest] = [createWorld(management), createWorld(management)];
  const shared = await owner.podcast();
  await owner.podcast();
  const own = [await guest.podcast(), await guest.podcast()];
  const again = await owner.podcast();
  const principal = {
    ...someone(
      owner,
      { podcast_id: shared.id, roles: ['viewer', 'analyst'] },
      { podcast_id: again.id, roles: ['viewer'] },
    ),
    workspace_id: guest.workspaceId,
  };
  const page = async (who: Principal, cursor: string) =>
    gateway.resources.listResources(
      { workspaceId: '', resourceType: 'podcasts', links: {}, lifecycleStates: [], limit: 1, cursor },
      await speaksFor(who),
    );
  const seen: string[] = [];
  let cursor = '';
  do {
    const { resourcesJson, nextCursor } = await page(principal, cursor);
    seen.push(...resourcesJson.map((json) => (JSON.parse(json) as ResourceView).id));
    cursor = nextCursor;
    if (cursor)
      await expect(page(someone(owner, { roles: ['viewer'] }), cursor)).rejects.toMatchObject({
        code: 'invalid_cursor',
      });
  } while (cursor);
  expect(seen).toEqual([shared.id, ...own.map(({ id }) => id), again.id]);
});

test('a gateway without a statement, or with one that nobody signed, reads nothing', async () => {
  const { id } = await createWorld(management).podcast();
  const request = { workspaceId: '', resourceType: 'podcasts', resourceId: id };
  await expect(gateway.resources.getResource(request, {})).rejects.toMatchObject({ code: 'token_missing' });
  const other = await exportJWK((await generateKeyPair('EdDSA', { extractable: true })).privateKey);
  const forged = await signPrincipal(someone(createWorld(management)), other, management.clock());
  await expect(gateway.resources.getResource(request, { principalStatement: forged })).rejects.toMatchObject({
    code: 'token_invalid',
  });
});
