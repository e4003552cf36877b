import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { serveHttp, type HttpWorld } from './_http.ts';
import { management, world } from './_shared-http.ts';
import { service } from './_values.ts';

/** Every request is one of the owner's session; what lets it in has a matrix of its own. */
let pages: HttpWorld;
const userId = newId('usr');
const person = { name: 'Ada', email: 'ada@example.com', locale: 'de', timeZone: undefined };
type Found = { accountName: string; person: typeof person | undefined };
let findPerson = async (): Promise<Found> => ({ accountName: 'Harbour Light', person });
beforeAll(async () => {
  if (world.actor.kind !== 'principal') throw new Error('worlds belong to people');
  const principal = { ...world.actor.principal, user_id: userId, credential_kind: 'browser_session' as const };
  pages = await serveHttp(
    management,
    {
      findPerson: async (asked) => {
        expect(asked).toMatchObject({ accountId: principal.account_id, workspaceId: world.workspaceId, userId });
        return findPerson();
      },
    },
    {
      authenticate: async () => ({
        ...{ principal, clientId: 'console/ada', grantId: '', purposes: [], requestsPerMinute: undefined },
        scopes: new Set(['management:read', 'management:write']),
      }),
    },
  );
  await management.execute(
    {
      ...{ workspaceId: world.workspaceId, commandType: 'workspace.provision', idempotencyKey: 'provision' },
      subject: { type: 'workspaces', id: world.workspaceId },
      changes: { name: 'Harbour Light', account_id: newId('acc') },
    },
    service('management'),
  );
});
afterAll(() => pages[Symbol.asyncDispose]());

const send = (type: string, body: unknown, headers: Record<string, string> = {}) =>
  pages.call(`/workspaces/${world.workspaceId}/commands/${type}`, {
    body,
    headers: { 'idempotency-key': newId('req'), ...headers },
  });
const advertiser = {
  subject: { type: 'advertisers', id: null, version: 0 },
  changes: { legal_name: 'Tidewater', brands: [], ad_product_categories: [] },
  reason: 'A new customer.',
};

test('a session learns who is signed in, with the account and every workspace', async () => {
  const { status, json, headers } = await pages.call('/me');
  if (world.actor.kind !== 'principal') throw new Error('worlds belong to people');
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(json).toEqual({
    account: { id: world.actor.principal.account_id, name: 'Harbour Light' },
    person: { id: userId, name: 'Ada', email: 'ada@example.com', locale: 'de' },
    own_workspace_id: world.workspaceId,
    workspaces: [
      {
        ...{ id: world.workspaceId, name: 'Harbour Light', lifecycle_state: 'active' },
        ...{ currency: expect.any(String), time_zone: expect.any(String), roles: expect.arrayContaining(['owner']) },
      },
    ],
  });
});

test.each([
  ['person', async () => ({ accountName: 'Harbour Light', person: undefined })],
  ['account', async () => Promise.reject(new Problem('not_found', 'There is no account.'))],
])('the session of a %s that is gone is of nobody: 401, as for every session that has ended', async (_what, find) => {
  const before = findPerson;
  findPerson = find;
  const { json } = await pages.call('/me');
  findPerson = before;
  expect(json).toMatchObject({ status: 401, code: 'token_invalid' });
});

test('a token learns nothing of the person', async () => {
  await using api = await serveHttp(management);
  expect((await api.call('/me', { token: api.tokenFor(world.actor) })).json).toMatchObject({
    status: 403,
    code: 'permission_denied',
  });
});

test('a session sends commands as JSON alone, uncounted', async () => {
  pages.counted.length = 0;
  const { status, headers } = await send('advertiser.create', advertiser);
  expect(status).toBe(200);
  expect(pages.counted.map(({ key }) => key.split(':')[0])).toEqual(['management_address']);
  expect(headers.get('ratelimit-limit')).toBeNull();
  const form = await send('advertiser.create', 'subject=advertisers', {
    'content-type': 'application/x-www-form-urlencoded',
  });
  expect(form.json).toMatchObject({ status: 415, code: 'unsupported_media_type' });
});

test.each([
  ['base.test', 'http://base.test'],
  ['BASE.test:80', 'http://base.test'],
  ['api.test', 'http://api.test'],
])('the operation of a command that was sent to %s is below %s', async (host, root) => {
  const path = `/workspaces/${world.workspaceId}`;
  const headers = { host, 'content-type': 'application/json', 'idempotency-key': newId('req') };
  const location = await new Promise((resolve, reject) => {
    const url = `${pages.origin}/management/v1${path}/commands/advertiser.create`;
    const sent = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume();
      resolve(answer.headers.location);
    });
    sent.once('error', reject).end(JSON.stringify(advertiser));
  });
  expect(location).toMatch(new RegExp(`^${root}/management/v1${path}/operations/op_\\w+$`));
});

test.each(['workspace.close', 'authority_grant.propose', 'machine_key.register', 'webhook_endpoint.create'])(
  'a session cannot send %s, whatever the roles of the person are: nothing has asked for the password',
  async (type) => {
    const subject = { type: 'workspaces', id: world.workspaceId, version: 1 };
    const { json } = await send(type, { subject, changes: {}, reason: 'It is over.' });
    expect(json).toMatchObject({ status: 403, code: 'permission_denied', detail: expect.stringContaining('session') });
  },
);
