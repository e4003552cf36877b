import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { commandLineClient } from '@longwave/principal';
import { bareEnvironment } from '@longwave/test-kit';
import { liveSession } from '../src/sign-in/live-session.ts';
import { openSessionFile, type Session } from '../src/sign-in/session-file.ts';
import { signIn } from '../src/sign-in/sign-in.ts';

/** An authorization server that hands out numbered tokens, each refresh token for one use. */
async function startAuthorizationServer() {
  const calls: { readonly path: string; readonly form: URLSearchParams }[] = [];
  /** Fields that the metadata have instead of the right ones. */
  const wrong: { metadata: object } = { metadata: {} };
  const server = createServer((request, response) => void answer(request).then((body) => response.end(body)));
  async function answer(request: IncomingMessage): Promise<string> {
    const { pathname } = new URL(request.url!, issuer);
    if (request.method === 'GET')
      return JSON.stringify({
        ...{ issuer, authorization_endpoint: `${issuer}/oauth/authorize`, token_endpoint: `${issuer}/oauth/token` },
        ...{ revocation_endpoint: `${issuer}/oauth/revoke`, code_challenge_methods_supported: ['S256'] },
        protected_resources: [`${issuer}/api/v1`, `${issuer}/mcp`, `${issuer}/management/v1`],
        ...wrong.metadata,
      });
    calls.push({ path: pathname, form: new URLSearchParams(await text(request)) });
    const nth = calls.length;
    const tokens = { access_token: `access-${nth}`, refresh_token: `refresh-${nth}`, token_type: 'Bearer' };
    return pathname === '/oauth/token' ? JSON.stringify({ ...tokens, expires_in: 900, scope: 'mcp:read' }) : '';
  }
  server.on('request', (_request, response) => response.setHeader('Content-Type', 'application/json'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    calls,
    wrong,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => void server.close(() => done())),
  };
}

let server: Awaited<ReturnType<typeof startAuthorizationServer>>;
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-sign-in-'));
const environment = { ...bareEnvironment, XDG_CONFIG_HOME: folder };
beforeAll(async () => {
  server = await startAuthorizationServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  server.calls.length = 0;
  server.wrong.metadata = {};
});

/** The page that the browser of `signInWith` ends on. */
let shown: Promise<{ readonly body: string; readonly csp: string | null }>;

/** Signs in with a browser that answers with these parameters, given the ones of a right answer. */
const signInWith = (answerOf: (right: readonly [string, string][]) => readonly (readonly [string, string])[]) =>
  signIn({ baseUrl: server.issuer, api: 'mcp', scopes: ['mcp:read'] }, (address) => {
    const { searchParams } = new URL(address);
    const right: [string, string][] = [
      ['code', 'the-code'],
      ['state', searchParams.get('state')!],
      ['iss', server.issuer],
    ];
    const parameters = new URLSearchParams(answerOf(right).map(([name, value]): [string, string] => [name, value]));
    shown = fetch(`${commandLineClient.redirectUri}?${parameters.toString()}`).then(async (response) => ({
      body: await response.text(),
      csp: response.headers.get('content-security-policy'),
    }));
  });

const sessionOf = (more: Partial<Session> = {}): Session => ({
  ...{ issuer: server.issuer, resource: `${server.issuer}/mcp`, scope: 'mcp:read', access_token: 'old' },
  ...{ refresh_token: 'refresh-0', expires_at: new Date(Date.now() + 900_000).toISOString() },
  ...more,
});
const expired = () => sessionOf({ expires_at: new Date(Date.now() - 1_000).toISOString() });

describe('signing in', () => {
  test('sends the code with the verifier of its own challenge, for the API that was asked for', async () => {
    let challenge = '';
    const session = await signIn({ baseUrl: server.issuer, api: 'mcp', scopes: ['mcp:read'] }, (address) => {
      const { searchParams } = new URL(address);
      challenge = searchParams.get('code_challenge')!;
      expect(Object.fromEntries(searchParams)).toMatchObject({
        ...{ client_id: 'longwave-cli', redirect_uri: commandLineClient.redirectUri, code_challenge_method: 'S256' },
        ...{ resource: `${server.issuer}/mcp`, response_type: 'code' },
      });
      const answer = new URLSearchParams({ code: 'c', state: searchParams.get('state')!, iss: server.issuer });
      void fetch(`${commandLineClient.redirectUri}?${answer.toString()}`);
    });
    expect(session).toMatchObject({ access_token: 'access-1', refresh_token: 'refresh-1', scope: 'mcp:read' });
    const { form } = server.calls[0]!;
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(form.get('code_verifier')!));
    expect(Buffer.from(digest).toString('base64url')).toBe(challenge);
    expect(form.get('resource')).toBe(`${server.issuer}/mcp`);
  });

  test.each<[string, Parameters<typeof signInWith>[0]]>([
    ['has no issuer', (right) => right.filter(([name]) => name !== 'iss')],
    ['names the issuer twice', (right) => [...right, ['iss', server.issuer]]],
    [
      'is of another issuer',
      (right) => right.map(([name, value]) => [name, name === 'iss' ? 'https://x.test' : value]),
    ],
    ['names the issuer with a slash', (right) => right.map(([n, v]) => [n, n === 'iss' ? `${v}/` : v])],
    ['is an error', (right) => [...right.filter(([name]) => name !== 'code'), ['error', 'access_denied']]],
  ])('sends the code nowhere when the answer %s', async (_what, answerOf) => {
    await expect(signInWith(answerOf)).rejects.toThrow();
    expect(server.calls).toEqual([]);
  });

  test.each<[string, Parameters<typeof signInWith>[0], string]>([
    ['is signed in', (right) => right, 'You are signed in. You can close this page.'],
    [
      'refused',
      (right) => [...right.filter(([name]) => name !== 'code'), ['error', 'access_denied']],
      'Access was refused.',
    ],
    ['is not signed in', (right) => right.filter(([name]) => name !== 'iss'), 'You are not signed in.'],
  ])('the page of the callback says to the person who %s how it ended', async (_who, answerOf, text) => {
    const attempt = await Promise.allSettled([signInWith(answerOf)]);
    const response = await shown;
    const [, style] = /<style>([^]*)<\/style>/.exec(response.body)!;
    const digest = createHash('sha256').update(style!).digest('base64');
    expect(response).toEqual({
      body: expect.stringContaining(`<h1>Longwave</h1><p>${text}`),
      csp: `default-src 'none'; style-src 'sha256-${digest}'`,
    });
    expect(attempt[0].status).toBe(text.startsWith('You are signed in.') ? 'fulfilled' : 'rejected');
  });

  test('waits on when something else calls: only an answer with its state counts', async () => {
    const session = await signIn({ baseUrl: server.issuer, api: 'mcp', scopes: [] }, (address) => {
      const state = new URL(address).searchParams.get('state')!;
      const call = (at: string) => fetch(new URL(at, commandLineClient.redirectUri)).then(({ status }) => status);
      void (async () => {
        const iss = encodeURIComponent(server.issuer);
        expect(await call(`/callback?code=c&iss=${iss}`)).toBe(400);
        expect(await call(`/callback?code=c&iss=${iss}&state=guess`)).toBe(400);
        expect(await call(`/callback?code=c&iss=${iss}&state=${state}&state=${state}`)).toBe(400);
        expect(await call('/favicon.ico')).toBe(404);
        expect(await call(`/callback?code=c&iss=${iss}&state=${state}`)).toBe(200);
      })();
    });
    expect(session.access_token).toBe('access-1');
  });

  test.each<[string, () => object, string]>([
    ['are of another issuer', () => ({ issuer: 'https://x.test' }), 'issuer'],
    ['have no API for agents', () => ({ protected_resources: [`${server.issuer}/api/v1`] }), 'has no API “mcp”'],
    ['have it at another path', () => ({ protected_resources: [`${server.issuer}/x/mcp`] }), 'has no API “mcp”'],
    ['name a file', () => ({ authorization_endpoint: 'file:///etc/passwd' }), 'is not an https address'],
    ['name an insecure page', () => ({ authorization_endpoint: 'http://x.test/' }), 'is not an https address'],
    ['name no page', () => ({ authorization_endpoint: undefined }), 'is not an https address'],
    ['have no API at all', () => ({ protected_resources: undefined }), 'has no API “mcp”'],
  ])('opens no address when the metadata %s', async (_what, metadata, message) => {
    server.wrong.metadata = metadata();
    const opened: string[] = [];
    const attempt = signIn({ baseUrl: server.issuer, api: 'mcp', scopes: [] }, (at) => opened.push(at));
    await expect(attempt).rejects.toThrow(message);
    expect(opened).toEqual([]);
  });

  test('asks for exactly the scopes that it was given, and keeps those that the person allowed', async () => {
    let asked = '';
    const scopes = ['mcp:read', 'mcp:ads.read'];
    const session = await signIn({ baseUrl: server.issuer, api: 'mcp', scopes }, (address) => {
      const { searchParams } = new URL(address);
      asked = searchParams.get('scope')!;
      const answer = new URLSearchParams({ code: 'c', state: searchParams.get('state')!, iss: server.issuer });
      void fetch(`${commandLineClient.redirectUri}?${answer.toString()}`);
    });
    expect(asked).toBe('mcp:read mcp:ads.read offline_access');
    expect(session.scope).toBe('mcp:read');
  });

  test('sends nothing over http to another machine', async () => {
    const opened: string[] = [];
    const attempt = signIn({ baseUrl: 'http://longwave.test', api: 'mcp', scopes: [] }, (at) => opened.push(at));
    await expect(attempt).rejects.toThrow('is not an https address');
    expect(opened).toEqual([]);
  });
});

describe('a sign-in', () => {
  const file = openSessionFile(environment);
  afterEach(() => file.write('mcp', undefined));

  test('is in a file that only its user can read', () => {
    file.write('mcp', sessionOf());
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    expect(file.read('management')).toBeUndefined();
  });

  test('is renewed once when several programs need it at the same time, because a refresh token works once', async () => {
    file.write('mcp', expired());
    const files = Array.from({ length: 6 }, () => openSessionFile(environment));
    const sessions = await Promise.all(files.map((each) => liveSession(each, 'mcp')));
    expect(new Set(sessions.map((each) => each.access_token))).toEqual(new Set(['access-1']));
    expect(server.calls.map(({ form }) => form.get('refresh_token'))).toEqual(['refresh-0']);
    expect(file.read('mcp')?.refresh_token).toBe('refresh-1');
  });

  test('is not renewed at a server that names another issuer: its refresh token goes nowhere', async () => {
    file.write('mcp', expired());
    server.wrong.metadata = { issuer: 'https://x.test' };
    await expect(liveSession(file, 'mcp')).rejects.toThrow('issuer');
    expect(server.calls).toEqual([]);
    expect(file.read('mcp')?.refresh_token).toBe('refresh-0');
  });

  test('that has ended is explained', async () => {
    const { refresh_token: _none, ...ended } = expired();
    file.write('mcp', ended);
    await expect(liveSession(file, 'mcp')).rejects.toThrow(
      'This access was ended. Sign in again: npx longwave login --for mcp',
    );
  });
});

test('logging out revokes the refresh token and removes the sign-in, also without an installation that answers', async () => {
  const file = openSessionFile(environment);
  file.write('mcp', sessionOf());
  file.write('management', sessionOf({ issuer: 'http://127.0.0.1:1' }));
  const script = path.resolve(import.meta.dirname, '../src/main.ts');
  const child = spawn(process.execPath, [script, 'logout'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = await text(child.stdout);
  expect(output).toContain(`Signed out at ${server.issuer} for mcp.\n`);
  expect(output).toContain('did not answer');
  expect(server.calls.map(({ path: at, form }) => [at, form.get('token')])).toEqual([['/oauth/revoke', 'refresh-0']]);
  expect([file.read('mcp'), file.read('management')]).toEqual([undefined, undefined]);
});

test('without a sign-in a program says at once how to sign in to the API that it needs', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [path.resolve(import.meta.dirname, '../src/main.ts'), ...args], {
      ...{ encoding: 'utf8', env: { ...environment, XDG_CONFIG_HOME: path.join(folder, 'empty') } },
    });
  expect(run('manage', 'run', 'authority_grant.propose')).toMatchObject({
    ...{ status: 1, stdout: '' },
    stderr: 'You are not signed in for management. Sign in: npx longwave login --for management\n',
  });
  const { status, stderr } = run('whoami');
  expect(status).toBe(1);
  expect(stderr).toMatch(/npx longwave login +for agents \(mcp\)\n +npx longwave login --for management +for “manage”/);
});
