import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { startPages, type PagesUnderTest } from './_pages.ts';

let pages: PagesUnderTest;
beforeAll(async () => {
  pages = await startPages();
}, 120_000);
afterAll(() => pages[Symbol.asyncDispose]());

type Person = Awaited<ReturnType<PagesUnderTest['signedIn']>>;

const page = '/settings/members';
const invite = ({ browser }: Person, email: string) => browser.post(`${page}/invite`, { email }, {}, page);

/** Waits until every invitation of the account was mailed, or refused a mail. */
const settled = ({ workspaceId }: Person) =>
  until(async () => {
    const { rowCount } = await pages.pool.query(
      `select from resource where resource_type = 'memberships' and workspace_id = $1 and lifecycle_state = 'invited'
         and id not in (select invitation_id from invitation_mail)`,
      [workspaceId],
    );
    return rowCount === 0;
  });

test('an address gets five mails of invitations an hour; the sixth invitation waits without, and its page says so', async () => {
  const [owner, guest] = [await pages.signedIn('Ada'), await pages.signedIn('Ben')];
  for (let turn = 0; turn < 6; turn += 1) {
    await invite(owner, guest.email);
    await settled(owner);
    if (turn === 5) break;
    const { body } = await owner.browser.get(page);
    expect(body).not.toContain('No mail was sent');
    const id = /action="\/settings\/members\/end"[^]*?name="id" value="([^"]+)"/.exec(body)![1]!;
    await owner.browser.post(`${page}/end`, { id }, {}, page);
  }
  expect(pages.readMails().filter(({ to }) => to === guest.email)).toHaveLength(5);
  await until(async () => (await owner.browser.get(page)).body.includes('No mail was sent: there were too many'));
  expect((await guest.browser.get(page)).body).toContain('Ada invites you');
});

test('an account sends fifty mails of invitations a day, and uses up nobody else’s', async () => {
  const [eager, other] = [await pages.signedIn('Cid'), await pages.signedIn('Dan')];
  for (let turn = 0; turn < 52; turn += 1) await invite(eager, `${turn}-${eager.email}`);
  await settled(eager);
  const sent = () => pages.readMails().filter(({ to }) => to.endsWith(`-${eager.email}`)).length;
  await until(async () => sent() === 50);
  await invite(other, `x-${other.email}`);
  await pages.mailTo(`x-${other.email}`);
  expect(sent()).toBe(50);
});

/** A mail server that refuses one address (RFC 5321), and knows whom it took mails for. */
async function startMailServer(refused: string) {
  const taken: string[] = [];
  const server = createServer((socket) => {
    let isText = false;
    const say = (line: string) => socket.write(`${line}\r\n`);
    socket.on('error', () => undefined);
    say('220 mail.test');
    createInterface({ input: socket }).on('line', (line) => {
      const address = /^RCPT TO:<([^>]*)>/i.exec(line)?.[1];
      if (isText) {
        if (line === '.') say('250 taken');
        isText = line !== '.';
      } else if (line === 'DATA') {
        isText = true;
        say('354 go on');
      } else if (line === 'QUIT') socket.end('221 bye\r\n');
      else if (address === refused) say('550 no such person');
      else {
        if (address !== undefined) taken.push(address);
        say('250 ok');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    taken,
    mailUrl: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => void server.close(),
  };
}

test('an invitation whose mail no server takes keeps no other invitation waiting', async () => {
  using mailServer = await startMailServer('refused@example.com');
  await using other = await startPages({ mailUrl: mailServer.mailUrl });
  const owner = await other.signedIn('Cam');
  await invite(owner, 'refused@example.com');
  await invite(owner, 'taken@example.com');
  await until(async () => mailServer.taken.includes('taken@example.com'));
});
