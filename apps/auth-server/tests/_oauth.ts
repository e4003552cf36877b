import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@longwave/ids';
import { Api } from '@longwave/rpc/credential';
import { startPages } from './_pages.ts';
import { baseUrl, digestOf } from './_support.ts';

export const mcpResource = 'http://mcp.test/mcp';
export const restResource = `${baseUrl}/api/v1`;
export const managementResource = 'http://api.test/management/v1';
export const exchangeResource = 'http://api.test/hosting-exchange/v1';
export const audienceResource = 'http://api.test/audience/v1';

export const callback = 'https://studio.example/callback';

/** A public client of the MCP resource; its fields may be replaced. */
export const connector = (changes: object = {}) => ({
  client_id: newId('req') as string,
  kind: 'connector',
  name: 'Studio',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: [callback],
  resources: ['mcp'],
  scopes: ['mcp:read', 'mcp:analytics.read', 'mcp:episodes.write'],
  ...changes,
});

export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

const formOf = (fields: Fields): URLSearchParams => {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) for (const one of [value ?? []].flat()) form.append(name, one);
  return form;
};

/** A PKCE verifier with its challenge. */
export function pkce() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The permissions of a consent page, as their boxes stand. */
const scopesOn = (body: string) => [...body.matchAll(/name="scope" value="([^"]+)"/g)].map(([, scope]) => scope!);

/** auth-server as an authorization server, with people in browsers and clients that talk to it. */
export async function startOauth(options: Parameters<typeof startPages>[0] = {}) {
  const pages = await startPages(options);
  const { server, url } = pages;
  // The library reads the clock of the machine.
  server.clock.now = new Date();
  type Person = Awaited<ReturnType<typeof pages.signedIn>>;

  /** What a client's own `fetch` does: the public address of the server is where it listens. */
  const clientFetch: typeof fetch = (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    const request = address.replace(baseUrl, url);
    return input instanceof Request ? fetch(new Request(request, input), init) : fetch(request, init);
  };

  async function register<C extends { readonly client_id: string; readonly workspaces?: readonly string[] }>(
    client: C,
  ) {
    const workspaceId = client.workspaces?.[0] ?? newId('ws');
    const { resource } = await server.send(workspaceId, 'oauth_client.register', client);
    const change = (verb: string, changes: object = {}) =>
      server.send(workspaceId, `oauth_client.${verb}`, changes, { subjectId: resource.id });
    return { ...client, id: resource.id, change };
  }

  const authorizeUrl = (fields: Fields) => `/oauth/authorize?${formOf(fields)}`;

  /** Opens the authorization address in a browser, up to the page of consent or to an answer for the client. */
  async function open(person: Person, address: string) {
    const first = await person.browser.get(address.replace(baseUrl, ''));
    const path = first.headers.get('location') ?? '';
    if (!path.startsWith('/oauth/interaction/')) return { path: '', page: first };
    return { path, page: await person.browser.get(path) };
  }

  /** Allows what a client asks for, and answers the address at the client to which the browser goes. */
  async function consent(
    person: Person,
    address: string,
    choice: { readonly account?: string; readonly scope?: readonly string[] } = {},
  ): Promise<URL> {
    const { path, page } = await open(person, address);
    const fields = { account: choice.account ?? person.accountId, scope: choice.scope ?? scopesOn(page.body) };
    const answer = await person.browser.post(`${path}/consent`, fields);
    const resumed = await person.browser.get(answer.headers.get('location')!.replace(baseUrl, ''));
    return new URL(resumed.headers.get('location')!);
  }

  const post = async (path: string, fields: Fields | string, headers: Record<string, string> = {}) => {
    const body = typeof fields === 'string' ? fields : String(formOf(fields));
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(url + path, { method: 'POST', body, headers: { ...type, ...headers } });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, string>,
      text,
    };
  };

  /** Tokens of a person for a client, by the whole flow. */
  async function grant(
    person: Person,
    client: ReturnType<typeof connector>,
    more: { readonly resource?: string; readonly account?: string; readonly scope?: string } = {},
  ) {
    const { verifier, challenge } = pkce();
    const { resource = mcpResource, scope } = more;
    const answer = await consent(
      person,
      authorizeUrl({
        ...{
          response_type: 'code',
          client_id: client.client_id,
          redirect_uri: client.redirect_uris[0],
          resource,
          scope,
        },
        ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 'state' },
      }),
      more.account === undefined ? {} : { account: more.account },
    );
    const code = answer.searchParams.get('code')!;
    const redeem = (changes: Fields = {}) =>
      post('/oauth/token', {
        ...{ grant_type: 'authorization_code', client_id: client.client_id, code, code_verifier: verifier },
        ...{ redirect_uri: client.redirect_uris[0], ...changes },
      });
    return { answer, code, verifier, redeem };
  }

  const refresh = (client: { readonly client_id: string }, token: string, changes: Fields = {}) =>
    post('/oauth/token', {
      ...{ grant_type: 'refresh_token', client_id: client.client_id, refresh_token: token, ...changes },
    });

  /** What an API is told about an access token. */
  const verify = async (token: string, api: Api = Api.MCP) => {
    const outcome = await server.verify(token, api);
    return outcome?.$case === 'principal' ? outcome.value : outcome?.value;
  };
  const isLive = async (token: string, api: Api = Api.MCP) => typeof (await verify(token, api)) === 'object';

  return {
    ...pages,
    clientFetch,
    register,
    authorizeUrl,
    open,
    consent,
    post,
    grant,
    refresh,
    verify,
    isLive,
    /** Everything in the database, as text. */
    async dump(): Promise<string> {
      const { rows } = await pages.pool.query<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = 'identity'`,
      );
      const tables = rows.map(({ name }) =>
        pages.pool.query<{ row: string }>(`select t::text as row from identity."${name}" t`),
      );
      return (await Promise.all(tables)).flatMap((table) => table.rows.map(({ row }) => row)).join('\n');
    },
    async securityEvents(userId: string): Promise<string[]> {
      const { rows } = await pages.pool.query<{ kind: string }>(
        'select kind from security_event where user_id = $1 order by id',
        [userId],
      );
      return rows.map(({ kind }) => kind);
    },
    /** A secret and its digest. */
    secret: () => {
      const text = randomBytes(32).toString('base64url');
      return { text, digest: digestOf(text) };
    },
  };
}

export type OauthUnderTest = Awaited<ReturnType<typeof startOauth>>;
export const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});
