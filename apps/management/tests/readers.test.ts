import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  productCatalog,
  type CommandDefinition,
  type ProductCommand,
  type ResourceDefinition,
} from '@longwave/command-catalog';
import { subjectOf } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { roles, type Principal, type Role } from '@longwave/principal';
import { isClosedReview } from '../src/workspace/reviews/closed-review.ts';
import { examples } from './_examples.ts';
import { serveManagement } from './_serve.ts';
import { api, management } from './_shared-http.ts';
import { guestIn, person, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let gateway: Awaited<ReturnType<typeof serveManagement>>;
beforeAll(async () => {
  gateway = await serveManagement(management);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const types = Object.values<ResourceDefinition>(productCatalog.resources);
const declared = types.flatMap(({ type, readers }) => (readers ? [{ type, readers }] : []));
const commands = Object.values<CommandDefinition>(productCatalog.commands);

/** A resource of the type, asked for by the operator, whose commands need no review. */
async function made(owner: World, type: string): Promise<ResourceView> {
  const { type: commandType } = commands.find(({ subject, from }) => subject === type && from === null)!;
  const { subject, changes, reason } = await examples[commandType as ProductCommand](owner);
  const request = { workspaceId: owner.workspaceId, commandType, idempotencyKey: newId('req'), subject, changes };
  return subjectOf(await management.execute({ ...request, reason }, service('operator')));
}

/** Somebody with these roles in the workspace of another. */
const memberOf = ({ workspaceId }: World, own: readonly Role[]) => guestIn(workspaceId, person(newId('ws')), [...own]);

test('statements, reconciliations, makegoods and forecasts name who reads them', () => {
  expect(declared.map(({ type }) => type).sort()).toEqual([
    'billing_statements',
    'forecasts',
    'makegoods',
    'reconciliations',
  ]);
});

describe.each(declared)('$type', ({ type, readers }) => {
  test('are shown to the roles that the catalog names, and are to every other one as if there were none', async () => {
    const owner = createWorld(management);
    const { id, updated_by: by } = await made(owner, type);
    const at = `/workspaces/${owner.workspaceId}`;
    const one = `${at}/resources/${type}`;
    const missing = newId(id.split('_')[0]!);

    for (const role of roles) {
      const actor = memberOf(owner, ['viewer', role]);
      const token = api.tokenFor(actor);
      const ask = async (path: string) => {
        const { status, text } = await api.call(path, { token });
        return { status, text };
      };
      const sees = readers.includes(role);
      for (const path of [`${one}/${id}`, `${one}/${id}/versions?difference=true`, `${one}/${id}/versions/1`]) {
        const [found, unknown] = [await ask(path), await ask(path.replace(id, missing))];
        expect([role, path, found.status]).toEqual([role, path, sees ? 200 : 404]);
        const said = ({ text }: typeof found) =>
          text.replace(/"(instance|trace_id)":"[^"]*"/g, '').replaceAll(id, missing);
        if (!sees) expect(said(found)).toBe(said(unknown));
      }
      expect((await ask(`${at}/operations/${by.operation_id}`)).status).toBe(sees ? 200 : 404);
      const list = JSON.parse((await ask(`${one}?count=true`)).text) as { rows: unknown[]; total: { count: number } };
      expect([role, list.rows.length, list.total.count]).toEqual([role, sees ? 1 : 0, sees ? 1 : 0]);
      for (const path of [`${at}/changes`, `${at}/changes?types=${type}`])
        expect([role, path, (await ask(path)).text.includes(id)]).toEqual([role, path, sees]);

      const context = await gateway.speaksFor((actor as { readonly principal: Principal }).principal);
      const named = { workspaceId: owner.workspaceId, resourceType: type };
      const read = gateway.resources.getResource({ ...named, resourceId: id }, context);
      if (sees) await read;
      else await expect(read).rejects.toMatchObject({ code: 'not_found' });
      for (const workspaceId of [owner.workspaceId, '']) {
        const { resourcesJson } = await gateway.resources.listResources(
          { ...named, workspaceId, links: {}, lifecycleStates: [], limit: 10, cursor: '' },
          context,
        );
        expect([role, resourcesJson.length]).toEqual([role, sees ? 1 : 0]);
      }
    }
  });
});

test('a place among the changes is the same for every reader: what was left out for one comes to another that goes on there', async () => {
  const owner = createWorld(management);
  const first = await owner.advertiser();
  const hidden = await made(owner, 'forecasts');
  const last = await owner.podcast();
  const page = async (role: Role, query: string) => {
    const token = api.tokenFor(memberOf(owner, [role]));
    const { json } = await api.call(`/workspaces/${owner.workspaceId}/changes?${query}`, { token });
    const { rows, next_cursor: next } = json as {
      rows: { cursor: string; subject: { id: string } }[];
      next_cursor: string;
    };
    return { ids: rows.map(({ subject }) => subject.id), cursors: rows.map(({ cursor }) => cursor), next };
  };
  const [viewers, sellers] = [await page('viewer', ''), await page('sales', '')];
  expect(viewers.ids).toEqual(sellers.ids.filter((id) => id !== hidden.id));
  expect(sellers.ids).toEqual(expect.arrayContaining([first.id, hidden.id, last.id]));
  const before = viewers.cursors[viewers.ids.indexOf(last.id) - 1]!;
  expect((await page('sales', `after=${before}`)).ids).toEqual(
    sellers.ids.slice(sellers.ids.indexOf(viewers.ids[viewers.cursors.indexOf(before)]!) + 1),
  );
  const at = sellers.cursors[sellers.ids.indexOf(hidden.id)]!;
  expect((await page('viewer', `after=${at}`)).ids).toEqual(sellers.ids.slice(sellers.ids.indexOf(hidden.id) + 1));
  // Nothing but what is left out comes: the place goes on over it.
  const end = await page('viewer', '');
  await owner.send('forecast.cancel', hidden, {});
  const beyond = await page('viewer', `after=${end.next}`);
  expect([beyond.ids, beyond.next === end.next]).toEqual([[], false]);
  expect((await page('sales', `after=${beyond.next}`)).ids).toEqual([]);
});

test('of a review of a command on one of them others see that there is one, not what it says; who decides it sees it all', async () => {
  const owner = createWorld(management);
  const { subject, actor } = await examples['makegood.decline'](owner);
  await management.execute(
    {
      ...{ workspaceId: owner.workspaceId, commandType: 'makegood.decline', idempotencyKey: newId('req'), subject },
      ...{ changes: { cause: 'Zephyr takes a credit.' }, reason: 'Zephyr wrote so.' },
    },
    actor,
  );
  const task = await owner.taskOf(subject.id!);
  const { id } = task;
  const reviewer = memberOf(owner, ['viewer', 'reviewer']);
  const note = 'Zephyr must sign it.';
  // A digest without a salt proves what somebody guesses.
  // The client is a matter of those who decide, and of whoever carries the command out.
  const { payload_digest: digest, client_id: client } = task.attributes['request'] as Record<string, string>;
  await owner.send('review.request_changes', task, { note }, reviewer);

  const at = `/workspaces/${owner.workspaceId}`;
  const one = `${at}/resources/review_tasks/${id}`;
  const reads = [one, `${at}/resources/review_tasks`, `${one}/versions?difference=true`, `${one}/difference`];
  for (const path of [...reads, `${at}/changes`]) {
    for (const [role, sees] of [
      ['viewer', false],
      ['publisher', false],
      ['reviewer', true],
    ] as const) {
      const { status, text } = await api.call(path, { token: api.tokenFor(memberOf(owner, [role])) });
      expect([path, role, status, text.includes('Zephyr')]).toEqual([path, role, 200, sees]);
      for (const hidden of [digest!, client!])
        expect([path, role, !sees && text.includes(hidden)]).toEqual([path, role, false]);
      expect(text).toContain(subject.id);
    }
  }
  // A command that would be refused now says why to who decides, and to nobody else.
  await owner.send('review.decline', await owner.taskOf(subject.id!), { note: 'Zephyr has signed.' }, reviewer);
  const difference = async (role: Role) => {
    const { status } = await api.call(`${one}/difference`, { token: api.tokenFor(memberOf(owner, [role])) });
    return status;
  };
  expect([await difference('viewer'), await difference('reviewer')]).toEqual([200, 422]);

  const policyTask = { ...task.attributes, required_roles: ['publisher'] };
  const closed = (role: Role) =>
    isClosedReview(memberOf(owner, [role]), owner.workspaceId, { type: 'review_tasks', attributes: policyTask });
  expect([closed('viewer'), closed('publisher'), closed('sales')]).toEqual([true, false, false]);
});
