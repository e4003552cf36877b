import { randomBytes } from 'node:crypto';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { createBrowser, mailTo as mailIn, readMails as readMailsIn } from '@longwave/test-kit';
import { baseUrl, digestOf, startAuthServer } from './_support.ts';

/** The token in the link of a mail. */
export const tokenOf = (link: string) => new URL(link, baseUrl).searchParams.get('token') ?? '';

export const passwordOf = (name: string) => `the password of ${name}`;

/** auth-server with browsers in front of it. */
export async function startPages(options: Parameters<typeof startAuthServer>[0] = {}) {
  const server = await startAuthServer(options);
  const url = `http://127.0.0.1:${server.app.port}`;

  /** A user with an account of its own. */
  async function person(name: string, plan = 'scale') {
    const workspaceId = newId('ws');
    const email = `${workspaceId}@example.com`;
    const user = await server.send(workspaceId, 'user.create', { name, email, email_verified: true });
    const account = await server.send(workspaceId, 'account.create', {
      ...{ name, email, plan, owner_user_id: user.resource.id },
    });
    return { workspaceId, email, userId: user.resource.id, accountId: account.resource.id };
  }

  const pool = createPool(server.database.url, 'identity', { name: 'test' });
  /** A browser with a session of a person, whose password was given now. */
  async function sessionOf(someone: Awaited<ReturnType<typeof person>>) {
    const text = `lw_ses_${randomBytes(32).toString('base64url')}`;
    const { now } = server.clock;
    const { resource } = await server.send(someone.workspaceId, 'credential.issue', {
      ...{ account_id: someone.accountId, user_id: someone.userId, name: 'Test', kind: 'browser_session' },
      ...{ secret_digest: digestOf(text), expires_at: new Date(now.getTime() + 12 * 3_600_000).toISOString() },
    });
    await pool.query('insert into session_use (credential_id, password_given_at, last_used_at) values ($1, $2, $2)', [
      resource.id,
      now,
    ]);
    const browser = createBrowser(url);
    browser.cookies.set('lw_session', text);
    return { ...someone, text, browser };
  }

  /** A new person with a session. */
  const signedIn = async (name: string) => sessionOf(await person(name));

  const readMails = () => readMailsIn(server.mailFolder);
  const mailTo = (email: string, count?: number) => mailIn(server.mailFolder, email, count);

  /** A person who signed up by mail, in the browser that did it. */
  async function signedUp(name: string, browser = createBrowser(url)) {
    const email = `${newId('usr')}@example.com`;
    await browser.post('/sign-up', { name, email }, {}, '/sign-up');
    const { link } = await mailTo(email);
    await browser.post('/sign-up/finish', { token: tokenOf(link), email, password: passwordOf(name) }, {}, link);
    return { email, password: passwordOf(name), browser };
  }

  return {
    server,
    pool,
    readMails,
    mailTo,
    signedUp,
    signedIn,
    sessionOf,
    url,
    baseUrl,
    person,
    browser: (from?: string) => createBrowser(url, from),
    [Symbol.asyncDispose]: async () => {
      await pool.end();
      await server[Symbol.asyncDispose]();
    },
  };
}

export type PagesUnderTest = Awaited<ReturnType<typeof startPages>>;
