import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Api, Carrier } from '@longwave/rpc/credential';
import { connector, startOauth, type OauthUnderTest } from './_oauth.ts';

let oauth: OauthUnderTest;
beforeAll(async () => {
  oauth = await startOauth();
}, 120_000);
afterAll(() => oauth[Symbol.asyncDispose]());

type Person = Awaited<ReturnType<OauthUnderTest['signedIn']>>;
type Owner = Awaited<ReturnType<OauthUnderTest['person']>>;

const wait = () => {
  oauth.server.clock.now = new Date(oauth.server.clock.now.getTime() + 1_000);
};

/** Answers the command that ends the membership. */
async function addMember(owner: Owner, member: Person, permissions: readonly string[]) {
  const { resource } = await oauth.server.send(owner.workspaceId, 'membership.add', {
    ...{ owner_account_id: owner.accountId, member_account_id: member.accountId, permissions },
  });
  return () => oauth.server.send(owner.workspaceId, 'membership.end', {}, { subjectId: resource.id });
}

/** A session in the account and everything that a member can have there. */
async function enterAccount(owner: Owner, member: Person, client: ReturnType<typeof connector>) {
  const { browser } = member;
  await browser.post('/sign-in/account', { account: owner.accountId }, {}, '/sign-in/account');
  const { body: tokens } = await (await oauth.grant(member, client, { account: owner.accountId })).redeem();
  const { body: form } = await browser.get('/settings/api');
  const once = /name="once" value="([^"]+)"/.exec(form)?.[1] ?? '';
  const made = await browser.post('/settings/api/agent', { once, agent: 'My agent' }, {}, '/settings/api');
  return {
    session: browser.cookies.get('lw_session')!,
    agent: /<code class="secret">([^<]+)<\/code>/.exec(made.body)![1]!,
    access: tokens['access_token']!,
    refresh: tokens['refresh_token']!,
  };
}

test('what a member had ends with the membership: adding the person again, or accepting an older invitation, revives nothing', async () => {
  const client = await oauth.register(connector({ name: 'Old connector' }));
  const [owner, member] = [await oauth.signedIn('Ada'), await oauth.signedIn('Ben')];
  await owner.browser.post('/settings/members/invite', { email: member.email }, {}, '/settings/members');
  wait();
  const endMembership = await addMember(owner, member, ['edit']);
  const had = await enterAccount(owner, member, client);
  const live = async () => ({
    session: (await oauth.server.verify(had.session, Api.REST, Carrier.COOKIE))?.$case === 'principal',
    agent: await oauth.isLive(had.agent),
    access: await oauth.isLive(had.access),
  });
  expect(await live()).toEqual({ session: true, agent: true, access: true });
  wait();

  await endMembership();
  const nothing = { session: false, agent: false, access: false };
  expect(await live()).toEqual(nothing);
  const { browser } = await oauth.sessionOf(member);
  const shown = async () => (await browser.get('/settings/connectors')).body;
  expect(await shown()).toContain('No program has access.');
  expect((await browser.get('/settings/security')).body.match(/last used/g)).toHaveLength(1);
  wait();

  const { body } = await browser.get('/settings/members');
  const id = /action="\/settings\/members\/accept"[^]*?name="id" value="([^"]+)"/.exec(body)![1]!;
  await browser.post('/settings/members/accept', { id }, {}, '/settings/members');
  expect(await live()).toEqual(nothing);
  expect(await oauth.refresh(client, had.refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  expect(await shown()).toContain('No program has access.');

  await enterAccount(owner, { ...member, browser }, client);
  expect((await browser.get('/settings/api')).body.match(/My agent<\/b/g)).toHaveLength(1);
  expect((await shown()).match(/Old connector<\/h2>/g)).toHaveLength(1);
});
