import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { mailTo, until } from '@longwave/test-kit';
import { getAccessToken, mailFolderOf, registerConnector, signUp, type Person } from '@longwave/test-kit/clients';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

let world: SharedInstallation;
let clientId: string;
let owner: Client;
let guest: Client;

interface Answer {
  readonly state: string;
  readonly subject: { readonly id: string };
  readonly version: number;
  readonly lifecycle_state: string;
}
type Client = Awaited<ReturnType<typeof clientOf>>;

/** A person with an account of its own, and the Management API as a program of this person calls it. */
async function clientOf(name: string) {
  const person: Person = await signUp(world, name);
  const { base, api } = world.fleet.urls;
  const resource = `${api}/management/v1`;
  const token = await getAccessToken(person, {
    ...{ base, clientId, resource },
    scopes: ['management:read', 'management:write'],
  });
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${resource}${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json', 'idempotency-key': newId('req') }),
      },
    });
    return { status: response.status, json: (await response.json()) as Answer };
  };
  const { workspace_id: workspaceId } = await world.operator.account(person.accountId);
  return { ...person, workspaceId, call };
}

beforeAll(async () => {
  world = await openSharedInstallation();
  clientId = await registerConnector(world);
  [owner, guest] = [await clientOf('Ada'), await clientOf('Ben')];
}, 180_000);
afterAll(async () => world[Symbol.asyncDispose]());

/** Proposes a grant to the guest's address; answers its id, once the page of the guest shows it. */
async function propose(): Promise<string> {
  const changes = {
    ...{ grantee: { email: guest.email }, role: 'trafficker' },
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  };
  const subject = { type: 'authority_grants', id: null };
  const { status, json } = await owner.call(`/workspaces/${owner.workspaceId}/commands/authority_grant.propose`, {
    ...{ subject, changes },
  });
  expect([status, json.state]).toEqual([200, 'succeeded']);
  const { id } = json.subject;
  await until('the invitation', async () => (await guest.browser.get('/settings/members')).body.includes(id));
  return id;
}

const answer = (what: 'accept' | 'decline', id: string) =>
  guest.browser.post(`/settings/members/${what}`, { id }, {}, '/settings/members');
const stateOf = async (id: string) =>
  (await owner.call(`/workspaces/${owner.workspaceId}/resources/authority_grants/${id}`)).json.lifecycle_state;

test('a person to whom a role is offered gets a mail, accepts on the page, and works in the workspace within 5 s', async () => {
  const id = await propose();
  const mail = await mailTo(mailFolderOf(world), guest.email, 2);
  expect(mail.text).toContain('You are offered the role “trafficker” in the workspace of “Ada”.');
  const { body } = await guest.browser.get(mail.link);
  expect(body).toContain('Ada invites you');
  expect(body).toContain('Set up campaigns, line items and creatives');

  const stranger = await owner.browser.post('/settings/members/accept', { id }, {}, '/settings/members');
  expect(stranger.status).toBe(404);
  const accepted = (await answer('accept', id)).body;
  expect(accepted).toContain('You have the role “trafficker” at Ada');
  expect(accepted).not.toContain(id);
  const started = performance.now();
  const path = `/workspaces/${owner.workspaceId}/resources/campaigns`;
  await until('the role', async () => (await guest.call(path)).status === 200);
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(await stateOf(id)).toBe('active');
  await until('the answered invitation', async () => {
    const shown = (await guest.browser.get('/settings/members')).body;
    return !shown.includes(id);
  });
});

test('a declined grant is revoked, and an answer to one that was taken back says so', async () => {
  const declined = await propose();
  expect((await answer('decline', declined)).body).toContain('is declined');
  expect(await stateOf(declined)).toBe('revoked');

  const gone = await propose();
  const { json } = await owner.call(`/workspaces/${owner.workspaceId}/resources/authority_grants/${gone}`);
  const revoked = await owner.call(`/workspaces/${owner.workspaceId}/commands/authority_grant.revoke`, {
    ...{ subject: { type: 'authority_grants', id: gone, version: json.version }, changes: { cause: 'Not needed.' } },
  });
  expect(revoked.status).toBe(200);
  // Until the event has come, management refuses the answer; then the page knows of no such invitation.
  const late = await answer('accept', gone);
  expect([404, 422]).toContain(late.status);
  expect(await stateOf(gone)).toBe('revoked');
});
