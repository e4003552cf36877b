import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { startPages, type PagesUnderTest } from './_pages.ts';
import { watchRequests } from './_request-work.ts';

let pages: PagesUnderTest;
beforeAll(async () => {
  pages = await startPages();
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());

const unknownEmail = () => `${newId('usr')}@example.org`;
const signIn = (email: string) =>
  pages.browser().post('/sign-in', { email, password: 'a wrong password' }, {}, '/sign-in');

/** Before the answer to every form: what it changed is known to all who keep verified principals. */
const awaitsHolders = ['postgres read_verification_holders_behind'];

test('a wrong password costs one hash, the same statements and the same counts, whether the address is known or not', async () => {
  const { email } = await pages.signedUp('Ada');
  const workspaceId = newId('ws');
  const withoutPassword = unknownEmail();
  await pages.server.send(workspaceId, 'user.create', { name: 'Ben', email: withoutPassword, email_verified: true });
  using watch = watchRequests();
  const steps = [];
  for (const address of [email, withoutPassword, unknownEmail()]) {
    expect((await signIn(address)).status).toBe(422);
    steps.push(watch.stepsOf('POST /sign-in'));
  }
  expect(steps[0]).toEqual(['postgres find_login', 'redis evalsha', 'argon2', ...awaitsHolders]);
  expect(steps.slice(1)).toEqual([steps[0], steps[0]]);
});

test('a forgotten password is looked up alike, and what a known address causes besides comes after that', async () => {
  const { email } = await pages.signedUp('Cid');
  using watch = watchRequests();
  const ask = async (address: string) => {
    await pages.browser().post('/sign-in/reset', { email: address }, {}, '/sign-in/reset');
    return watch.stepsOf('POST /sign-in/reset');
  };
  const unknown = await ask(unknownEmail());
  const known = await ask(email);
  await pages.mailTo(email, 2);
  expect(unknown).toEqual(['redis evalsha', ...awaitsHolders, 'postgres find_user_by_email']);
  expect(known.slice(0, unknown.length)).toEqual(unknown);
  expect(known.slice(unknown.length).join()).toContain('insert into mail_token');
});

test.each([
  ['/sign-in/reset', {}],
  ['/sign-up', { name: 'Dora' }],
])('%s answers although its mail does not leave', async (path, fields) => {
  const mailServer = createServer().listen(0, '127.0.0.1');
  await once(mailServer, 'listening');
  const connected = once(mailServer, 'connection');
  const mailUrl = `smtp://127.0.0.1:${(mailServer.address() as AddressInfo).port}`;
  await using silent = await startPages({ mailUrl });
  const { email } = await silent.person('Dora');
  const answer = await silent.browser().post(path, { ...fields, email }, {}, path);
  expect(answer.status).toBe(200);
  const [socket] = await connected;
  socket.destroy();
  mailServer.close();
});
