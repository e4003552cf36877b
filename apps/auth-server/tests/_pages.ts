import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { baseUrl, digestOf, startAuthServer } from './_support.ts';

/** An answer with its body read. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

type SentHeaders = Readonly<Record<string, string | undefined>>;

let browsers = 0;
/** An address of a network of its own, so that browsers do not use up each other's limits. */
const nextAddress = () => `10.0.${(browsers += 1) >> 8}.${browsers & 255}`;

/** A browser without scripts: it keeps cookies, and sends what a browser says about where a request comes from. */
export function createBrowser(url: string, from = nextAddress()) {
  const cookies = new Map<string, string>();

  async function fetchPage(path: string, init: { method?: string; body?: string; headers?: SentHeaders } = {}) {
    const sent = {
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': from,
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...init.headers,
    };
    const headers = Object.entries(sent).filter((entry): entry is [string, string] => Boolean(entry[1]));
    const response = await fetch(new URL(path, url), { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, body: await response.text() } satisfies Answer;
  }

  const tokenIn = (body: string) => /name="form_token" value="([^"]+)"/.exec(body)?.[1];

  return {
    cookies,
    fetch: fetchPage,
    get: (path: string) => fetchPage(path),
    /** Sends the fields with the token of a form that the browser has seen at `on`. */
    async post(
      path: string,
      fields: Readonly<Record<string, string | readonly string[]>>,
      headers: SentHeaders = {},
      on = '/settings',
    ): Promise<Answer> {
      const { form_token = tokenIn((await fetchPage(on)).body) ?? '', ...others } = fields;
      const body = new URLSearchParams({ form_token: String(form_token) });
      for (const [name, value] of Object.entries(others)) for (const one of [value].flat()) body.append(name, one);
      return fetchPage(path, {
        method: 'POST',
        body: String(body),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });
    },
  };
}

export interface SentMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Path and query of the first link. */
  readonly link: string;
}

/** A mail of plain text as it lies in a file. */
function parseMail(source: string): SentMail {
  const [head = '', ...rest] = source.split('\n\n');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'mi').exec(head)?.[1] ?? '';
  const text = rest.join('\n\n');
  const link = /https?:\/\/[^/\s]+(\S*)/.exec(text)?.[1] ?? '';
  return { to: header('To'), subject: header('Subject'), text, link };
}

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
  /** A browser with a session of a new person, whose password was given now. */
  async function signedIn(name: string) {
    const someone = await person(name);
    const text = `lw_ses_${randomBytes(32).toString('base64url')}`;
    const { now } = server.clock;
    const { resource } = await server.send(someone.workspaceId, 'credential.issue', {
      ...{ account_id: someone.accountId, user_id: someone.userId, name: 'Test', kind: 'browser_session' },
      ...{ secret_digest: digestOf(text), expires_at: new Date(now.getTime() + 12 * 3_600_000).toISOString() },
    });
    await pool.query('insert into session_use values ($1, $2, $2)', [resource.id, now]);
    const browser = createBrowser(url);
    browser.cookies.set('lw_session', text);
    return { ...someone, text, browser };
  }

  const readMails = () =>
    readdirSync(server.mailFolder)
      .sort()
      .map((file) => parseMail(readFileSync(path.join(server.mailFolder, file), 'utf8')));

  /** The newest mail to an address, waiting until there are so many. */
  async function mailTo(email: string, count = 1): Promise<SentMail> {
    const found = () => readMails().filter(({ to }) => to === email);
    await until(async () => found().length >= count);
    return found().at(-1)!;
  }

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
