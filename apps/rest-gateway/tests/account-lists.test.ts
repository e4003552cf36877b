import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => gateway.reset());

const since = '2026-11-20T09:00:00.000Z';
const first = (prefix: string) => `${prefix}_00000000000000000000000000`;

test('members and keys are those of the account of the credential', async () => {
  for (const [credential, name] of [
    ['owner', 'ws_0000000000000000000000000a'],
    ['stranger', 'ws_0000000000000000000000000b'],
    // A member of the owner's organization sees its own account here.
    ['member', 'ws_0000000000000000000000000c'],
  ] as const) {
    const members = await gateway.get('/account/members', credential);
    const account_id = 'acc_0000000000000000000000000f';
    expect([members.status, await members.json()]).toEqual([
      200,
      [
        {
          id: first('mbr'),
          state: 'active',
          account_id,
          name,
          permissions: ['edit'],
          created_at: since,
          updated_at: since,
        },
      ],
    ]);
    const keys = await gateway.get('/account/keys', credential);
    const expires_at = '2026-11-20T09:00:01.000Z';
    expect([keys.status, await keys.json()]).toEqual([
      200,
      [
        {
          ...{ id: first('crd'), name, kind: 'legacy_token', scope: 'read', state: 'active', expires_at },
          ...{ created_at: since, updated_at: since },
        },
      ],
    ]);
  }
});

test.each(['/account/members', '/account/keys'])(
  '%s can be read with a read-only token, not with any role',
  async (path) => {
    expect((await gateway.get(path, 'legacy_read')).status).toBe(200);
    const refused = await gateway.get(path, 'viewer');
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { code: 403, message: "You don't have the permission to do this." },
    ]);
  },
);

test.each(['/account/members', '/account/keys'])(
  '%s has pages as other lists have, and is whole without',
  async (path) => {
    expect(await (await gateway.get(path, 'rich')).json()).toHaveLength(250);
    const page = await gateway.get(`${path}?page=3&per_page=100&fields_filter[]=name`, 'rich');
    expect(page.headers.get('x-total-count')).toBe('250');
    expect(page.headers.get('link')).toContain('page=2');
    const items = (await page.json()) as object[];
    expect(items).toHaveLength(50);
    expect(Object.keys(items[0]!)).toEqual(['id', 'name']);
  },
);
