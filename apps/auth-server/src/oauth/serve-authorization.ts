import type { EventEmitter } from 'node:events';
import { methodNotAllowed, type RoutePlace } from '@longwave/http-kit';
import type { Logger } from '@longwave/service-kit';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { JWK } from 'jose';
import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { serverMetadata } from './metadata.ts';
import { authorizePath, jwksPath, revokePath, tokenPath } from './paths.ts';
import { createProvider, type ProviderDeps } from './provider.ts';

export interface AuthorizationDeps extends ProviderDeps {
  /** The private keys, the newest first. */
  readonly signingKeys: () => readonly JWK[];
  readonly hasDescribedClients: () => Promise<boolean>;
  /** Throws when the sender makes too many authorization requests: every one of them leaves a row for ten minutes. */
  readonly limitRequests: (request: Request) => Promise<void>;
  readonly logger: Logger;
}

/** The public half of a signing key. */
const publicKey = ({ kty, crv, x, y, kid }: JWK) => ({ kty, crv, x, y, kid, use: 'sig', alg: 'ES256' });

const sendPublic = (response: Response, body: unknown, type = 'application/json') =>
  void response
    .set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' })
    .type(type)
    .send(JSON.stringify(body));

/** Logs the refusals of the library, and its failures; never a token, code or secret. */
function logEvents(provider: Provider, logger: Logger): void {
  const refused =
    (event: string) =>
    ({ oidc }: KoaContextWithOIDC, { error, error_description, error_detail }: errors.OIDCProviderError) =>
      logger.info({ client_id: oidc.client?.clientId, error, error_description, error_detail }, `oauth.${event}`);
  provider.on('authorization.error', refused('authorization_refused'));
  provider.on('grant.error', refused('grant_refused'));
  provider.on('revocation.error', refused('revocation_refused'));
  provider.on('server_error', (_ctx, error) => logger.error({ err: error }, 'oauth.failed'));
  const app: EventEmitter = provider;
  app.on('error', (error) => logger.error({ err: error }, 'oauth.failed'));
}

/** The cookie of the library's session names nothing, so no browser gets it. */
function dropSessionCookie(provider: Provider): void {
  provider.use(async (ctx, next) => {
    await next();
    const cookies = [ctx.response.headers['set-cookie'] ?? []].flat();
    const kept = cookies.filter((cookie) => !String(cookie).startsWith(`${provider.cookieName('session')}=`));
    ctx.remove('Set-Cookie');
    if (kept.length > 0) ctx.set('Set-Cookie', kept.map(String));
  });
}

/** The library with the keys of now: another instance serves as soon as the key file has changed. */
function currentProvider(deps: AuthorizationDeps): () => Provider {
  let keys: readonly JWK[] | undefined;
  let provider: Provider | undefined;
  return () => {
    const now = deps.signingKeys();
    if (provider && now === keys) return provider;
    keys = now;
    provider = createProvider(deps, now);
    logEvents(provider, deps.logger);
    dropSessionCookie(provider);
    return provider;
  };
}

/** The endpoints of the authorization server (RFC 6749, RFC 7009, RFC 8414) on `{base_url}`, and the library behind them. */
export function serveAuthorization(deps: AuthorizationDeps): {
  readonly router: Router;
  readonly provider: () => Provider;
} {
  const { issuer, resources, signingKeys, hasDescribedClients, limitRequests } = deps;
  const router = Router();
  const provider = currentProvider(deps);
  const protocol = new URL(issuer).protocol.slice(0, -1);
  const answer: RequestHandler = (request, response, next) => {
    request.headers['x-forwarded-proto'] = protocol;
    provider().callback()(request, response).catch(next);
  };
  const only = (path: string, method: RoutePlace['method']) =>
    router.all(path, (request: Request, response: Response) => {
      throw methodNotAllowed(request, response, [method]);
    });

  for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']) {
    router.get(path, async (_request, response) => {
      const describesClients = await hasDescribedClients();
      sendPublic(response, serverMetadata(issuer, resources, { describesClients }));
    });
    only(path, 'GET');
  }
  router.get(jwksPath, (_request, response) =>
    sendPublic(response, { keys: signingKeys().map(publicKey) }, 'application/jwk-set+json'),
  );
  only(jwksPath, 'GET');
  router.get(authorizePath, async (request, response, next) => {
    await limitRequests(request);
    await answer(request, response, next);
  });
  router.get(`${authorizePath}/:uid`, answer);
  for (const path of [authorizePath, `${authorizePath}/:uid`]) only(path, 'GET');
  for (const path of [tokenPath, revokePath]) {
    router.post(path, answer);
    router.options(path, answer);
    only(path, 'POST');
  }
  return { router, provider };
}
