import { createHash, timingSafeEqual } from 'node:crypto';
import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import { Provider, errors, type Client, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import type { JWK } from 'jose';
import { createAdapter, type AdapterDeps } from './adapter.ts';
import { agreesWithRecord } from './client-metadata.ts';
import type { OAuthClient } from './client-table.ts';
import { lifetimes } from './lifetimes.ts';
import { authorizePath, interactionPath, jwksPath, revokePath, tokenPath } from './paths.ts';
import { parsePurposes } from './parse-purposes.ts';
import { bootstrapScope, type Resource } from './resources.ts';

export interface ProviderDeps extends AdapterDeps {
  /** `{base_url}`. */
  readonly issuer: string;
  readonly resources: readonly Resource[];
  readonly findClient: (clientId: string) => Promise<OAuthClient | undefined>;
  /** Whether the person, the account and the client of a grant are still what they were when it was given. */
  readonly isGrantAlive: (grantId: string) => Promise<boolean>;
  /** Fetches the metadata document of an approved connector. */
  readonly fetchDocument: GuardedFetch;
  /** Shows an error that no client can be told. */
  readonly renderError: NonNullable<Configuration['renderError']>;
}

const maxDocumentBytes = 5 * 1024;
const maxDocumentMs = 2_500;

/** The scopes of a request, those that it does not name included; throws for a scope that the client may not ask for. */
function requestScopes(ctx: KoaContextWithOIDC, { scopes, defaultScopes }: Resource, allowed: readonly string[]): void {
  const params = ctx.oidc.params;
  const isFirst = ctx.oidc.route === 'authorization' || params?.['grant_type'] === 'client_credentials';
  if (!params || !isFirst) return;
  const asked = typeof params['scope'] === 'string' ? params['scope'].split(' ').filter(Boolean) : [];
  const unknown = asked.find((scope) => scope !== 'offline_access' && !allowed.includes(scope));
  if (unknown !== undefined)
    throw new errors.InvalidScope(
      scopes.includes(unknown) ? 'the client may not ask for this scope' : 'the resource has no such scope',
      unknown,
    );
  const named = asked.filter((scope) => scope !== 'offline_access');
  if (named.includes(bootstrapScope) && named.length > 1)
    throw new errors.InvalidScope('this scope is asked for alone', bootstrapScope);
  if (named.length > 0) return;
  const usual = defaultScopes.filter((scope) => allowed.includes(scope));
  const others = allowed.filter((scope) => scope !== bootstrapScope);
  const unnamed = [usual, others, allowed].find((scopes) => scopes.length > 0) ?? [];
  params['scope'] = [...asked, ...unnamed].join(' ');
}

/** Answers for a resource of a request what its tokens are like. Throws `invalid_target` unless the client may ask for exactly this one. */
const resourceServerInfo =
  ({ resources, findClient }: ProviderDeps) =>
  async (ctx: KoaContextWithOIDC, identifier: string, { clientId }: Client) => {
    const resource = resources.find((one) => one.identifier === identifier);
    const client = await findClient(clientId);
    if (!resource || !client?.isActive || !client.resources.includes(resource.api))
      throw new errors.InvalidTarget('the client may not ask for this resource');
    if (resource.api === 'exchange' && !client.authority)
      throw new errors.InvalidTarget(
        'the client speaks for no authority',
        'register it with a workspace and an authority',
      );
    if (Array.isArray(ctx.oidc.params?.['resource']) && ctx.oidc.params['resource'].length > 1)
      throw new errors.InvalidTarget('a token is for one resource');
    const allowed = resource.scopes.filter((scope) => client.scopes.some((one) => one === scope));
    requestScopes(ctx, resource, allowed);
    return {
      scope: allowed.join(' '),
      audience: identifier,
      accessTokenFormat: resource.format,
      accessTokenTTL: resource.lifeSeconds,
      ...(resource.format === 'jwt' && { jwt: { sign: { alg: 'ES256' as const } } }),
    };
  };

/** Whether the one resource of a request is that of a refresh token. */
const isGrantedTo = (asked: unknown, granted: { has: (resource: string) => boolean }): boolean =>
  typeof asked === 'string' && granted.has(asked);

/** How long an assertion of a client may be good; a used one is remembered as long (RFC 7523 §3). */
const maxAssertionSeconds = 3_600;

/** What the library may do, and nothing else: code flow with PKCE, refresh, client credentials, revocation. */
function configurationOf(deps: ProviderDeps, keys: readonly JWK[]): Configuration {
  const { resources, findClient, isGrantAlive, fetchDocument, renderError } = deps;
  const off = { enabled: false };
  return {
    adapter: createAdapter(deps),
    jwks: { keys: keys.map((key) => ({ ...key, use: 'sig', alg: 'ES256' })) },
    routes: { authorization: authorizePath, token: tokenPath, revocation: revokePath, jwks: jwksPath },
    responseTypes: ['code'],
    // Scopes of APIs belong to their resources: here they would be granted without one.
    scopes: ['offline_access'],
    extraParams: {
      purpose: (_ctx, value) => {
        if (value !== undefined && !parsePurposes(value)) throw new errors.InvalidRequest('no such purpose');
      },
    },
    clientAuthMethods: ['none', 'client_secret_basic', 'private_key_jwt'],
    clientDefaults: { id_token_signed_response_alg: 'ES256', response_modes: ['query', 'form_post'] },
    enabledJWA: { clientAuthSigningAlgValues: ['ES256'], idTokenSigningAlgValues: ['ES256'] },
    pkce: { required: () => true },
    assertJwtClientAuthClaimsAndHeader: async (_ctx, { exp }) => {
      if (Number(exp) > Date.now() / 1000 + maxAssertionSeconds)
        throw new errors.InvalidClientAuth('the assertion lives for more than an hour');
    },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    // Each authorization makes a grant of its own; a grant of another account or resource is never used again.
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    findAccount: async (ctx, accountId, token) => {
      const grantId = token && 'grantId' in token ? token.grantId : undefined;
      if (grantId !== undefined && !(await isGrantAlive(grantId))) return undefined;
      // Before the token is used up: the right request must still be possible.
      const asked = ctx.oidc.params?.['resource'];
      if (token?.kind === 'RefreshToken' && asked !== undefined && !isGrantedTo(asked, token.resourceIndicators))
        throw new errors.InvalidTarget('the refresh token is for another resource');
      return { accountId, claims: async () => ({ sub: accountId }) };
    },
    extraTokenClaims: async (_ctx, token) => {
      if (token.kind !== 'ClientCredentials') return undefined;
      const { producer, workspaces, authority } = (await findClient(token.clientId ?? '')) ?? {};
      const api = resources.find(({ identifier }) => identifier === token.aud)?.api;
      if (api === 'audience') return { producer, workspaces };
      if (api !== 'exchange') return undefined;
      return { workspace: authority?.workspace_id, authority: authority?.authority_id };
    },
    clientBasedCORS: (_ctx, origin, client) =>
      client.tokenEndpointAuthMethod === 'none' &&
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin),
    interactions: { url: async (_ctx, { uid }) => `${interactionPath}/${uid}` },
    cookies: {
      names: { session: 'lw_as_session', interaction: 'lw_interaction', resume: 'lw_resume' },
      short: { httpOnly: true, sameSite: 'lax', signed: false },
      long: { httpOnly: true, sameSite: 'lax', signed: false },
    },
    ttl: lifetimes,
    features: {
      ...{ devInteractions: off, dPoP: off, pushedAuthorizationRequests: off, userinfo: off, rpInitiatedLogout: off },
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: resourceServerInfo(deps),
        useGrantedResource: async () => true,
        defaultResource: async (_ctx, _client, oneOf) => {
          const [only, ...more] = oneOf ?? [];
          if (only === undefined || more.length > 0) throw new errors.InvalidTarget('name the resource');
          return only;
        },
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: async (_ctx, clientId) => (await findClient(clientId))?.isActive === true,
        allowClient: async (_ctx, client) => {
          const approved = await findClient(client.clientId);
          return approved !== undefined && agreesWithRecord(client, approved);
        },
      },
    },
    fetch: async (url) => {
      const request = { headers: { accept: 'application/json' }, maxBytes: maxDocumentBytes, maxRedirects: 0 };
      using response = await fetchDocument(url instanceof Request ? url.url : url.toString(), {
        ...request,
        timeoutMs: maxDocumentMs,
      });
      return new Response(new Uint8Array(await readAll(response)), {
        status: response.status,
        headers: response.headers,
      });
    },
    renderError,
  };
}

/** The digest of the presented secret is compared with the stored one. */
function compareDigest(this: Client, secret: string): boolean {
  const given = createHash('sha256').update(secret).digest();
  const stored = Buffer.from(this.clientSecret ?? '', 'hex');
  return given.length === stored.length && timingSafeEqual(given, stored);
}

/** A redirect address is allowed as it was registered, port included, whatever the type of the client. */
function isRegisteredRedirect(this: Client, uri: string): boolean {
  return this.redirectUris?.includes(uri) === true;
}

/** The library with our rules, which signs with the first of these keys. */
export function createProvider(deps: ProviderDeps, keys: readonly JWK[]): Provider {
  const provider = new Provider(deps.issuer, configurationOf(deps, keys));
  // `x-forwarded-proto` is set by `serveAuthorization`, never believed from outside.
  provider.proxy = true;
  Object.assign(provider.Client.prototype, {
    compareClientSecret: compareDigest,
    redirectUriAllowed: isRegisteredRedirect,
  });
  return provider;
}
