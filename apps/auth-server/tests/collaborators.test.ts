import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Api } from '@longwave/rpc/credential';
import { startPages, type PagesUnderTest } from './_pages.ts';
import { publishAuthorityGrant, publishPodcasts } from './_podcasts.ts';
import { digestOf, secretText } from './_support.ts';

let pages: PagesUnderTest;
beforeAll(async () => {
  pages = await startPages();
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());

type Person = Awaited<ReturnType<PagesUnderTest['signedIn']>>;

/** The grants of the person's own account, by podcast. */
async function grantsOf({ workspaceId, accountId }: Person) {
  const text = secretText('lw_key_');
  const changes = { account_id: accountId, name: 'Key', kind: 'api_key', secret_digest: digestOf(text) };
  await pages.server.send(workspaceId, 'credential.issue', changes);
  const outcome = await pages.server.verify(text, Api.REST);
  return outcome?.$case === 'principal' ? outcome.value.grants.map(({ podcastId }) => podcastId) : [];
}

/** Publishes versions of a new podcast of the owner, each with the addresses that it names as editors. */
function podcastOf({ workspaceId }: Person) {
  const podcast = { id: newId('pod'), workspaceId };
  let version = 0;
  return {
    id: podcast.id,
    name: async (...emails: readonly string[]) => {
      const collaborators = emails.map((email) => ({ email, role: 'editor' }));
      await publishPodcasts(pages.server.redis.url, [{ ...podcast, version: (version += 1), collaborators }]);
    },
  };
}

/** Presses the button of the one invitation on the page. */
async function answer({ browser }: Person, what: 'accept' | 'decline') {
  const { body } = await browser.get('/settings/members');
  const id = new RegExp(`action="/settings/members/${what}"[^]*?name="id" value="([^"]+)"`).exec(body)?.[1] ?? '';
  return browser.post(`/settings/members/${what}`, { id }, {}, '/settings/members');
}

test('a collaborator is invited by one mail and works on the podcast after accepting, until it is removed; then it is asked again', async () => {
  const [owner, guest] = [await pages.signedIn('Gus'), await pages.signedIn('Hal')];
  const podcast = podcastOf(owner);
  await podcast.name(guest.email);
  const mail = await pages.mailTo(guest.email);
  expect(mail.text).toContain('the podcast “Harbour Light” of “Gus”');
  expect(await grantsOf(guest)).toEqual([]);
  expect((await guest.browser.get(mail.link)).body).toContain('Gus invites you to “Harbour Light”');
  expect((await answer(guest, 'accept')).body).toContain('is among your podcasts from now on');
  expect(await grantsOf(guest)).toEqual([podcast.id]);

  await podcast.name(guest.email, 'other@example.com');
  await pages.mailTo('other@example.com');
  expect(await grantsOf(guest)).toEqual([podcast.id]);
  expect(pages.readMails().filter(({ to }) => to === guest.email)).toHaveLength(1);

  await podcast.name();
  await podcast.name(guest.email);
  await pages.mailTo(guest.email, 2);
  expect(await grantsOf(guest)).toEqual([]);
});

test('who declines has no access and is asked no more, and nobody answers for another address', async () => {
  const [owner, guest, stranger] = [
    await pages.signedIn('Ida'),
    await pages.signedIn('Jan'),
    await pages.signedIn('Kim'),
  ];
  const podcast = podcastOf(owner);
  await podcast.name(guest.email);
  await pages.mailTo(guest.email);
  const { rows } = await pages.pool.query<{ id: string }>(
    'select id from collaborator_invitation where podcast_id = $1',
    [podcast.id],
  );
  const taken = await stranger.browser.post('/settings/members/accept', { id: rows[0]!.id }, {}, '/settings/members');
  expect(taken.status).toBe(404);
  expect((await answer(guest, 'decline')).body).toContain('is declined');
  expect((await guest.browser.get('/settings/members')).body).not.toContain('invites you');
  expect([await grantsOf(guest), await grantsOf(stranger)]).toEqual([[], []]);
});

test('an offered role is shown to whom it names, by address or by person, and stays when management cannot take the answer', async () => {
  const [owner, guest] = [await pages.signedIn('Lea'), await pages.signedIn('Max')];
  const grant = { workspaceId: owner.workspaceId, version: 1, state: 'proposed' };
  const offer = { role: 'reviewer', expires_at: '2027-01-31T12:00:00.000Z' };
  const byAddress = { ...grant, id: newId('agr'), attributes: { ...offer, grantee: { email: guest.email } } };
  const byPerson = { ...grant, id: newId('agr'), attributes: { ...offer, grantee: { user_id: guest.userId } } };
  await publishAuthorityGrant(pages.server.redis.url, byAddress);
  await publishAuthorityGrant(pages.server.redis.url, byPerson);
  const [mail] = [await pages.mailTo(guest.email, 2)];
  expect(mail.text).toContain('You are offered the role “reviewer” in the workspace of “Lea”.');
  const { body } = await guest.browser.get('/settings/members');
  expect(body).toContain(byAddress.id);
  expect(body).toContain(byPerson.id);
  expect(body).toContain('Review changes');
  expect(body).toContain('31 Jan 2027');
  expect((await owner.browser.get('/settings/members')).body).not.toContain(byAddress.id);

  const answered = await answer(guest, 'accept');
  expect(answered.status).toBe(422);
  expect(answered.body).toContain('role="alert"');
  expect(answered.body).toContain(byAddress.id);
});
