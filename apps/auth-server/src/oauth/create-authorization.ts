import type { SenderOf } from '@longwave/audience';
import type { Pool } from '@longwave/postgres';
import { openKeyFile } from '@longwave/principal';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { Logger } from '@longwave/service-kit';
import type { Express } from 'express';
import type { AuthServerConfig } from '../config.ts';
import { mayRefresh } from '../credentials/judge-credential.ts';
import type { PageRoute } from '../http/page-route.ts';
import { html } from '../pages/html.ts';
import { pageHeaders, renderPage } from '../pages/layout.ts';
import type { AttemptLimit } from '../passwords/attempt-limit.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import { connectorRoutes } from '../settings/connectors-page.ts';
import { findClient, hasDescribedClients } from './client-table.ts';
import { revokeGrant, type RevocationReason } from './grant-table.ts';
import { findGrantedAccess } from './granted-access-table.ts';
import { interactionRoutes } from './interaction-pages.ts';
import { authorizePath } from './paths.ts';
import type { ProviderDeps } from './provider.ts';
import type { Resource } from './resources.ts';
import { serveAuthorization } from './serve-authorization.ts';

export interface AuthorizationOptions {
  readonly config: Pick<AuthServerConfig, 'BASE_URL' | 'MCP_URL' | 'ACCESS_TOKEN_SIGNING_KEYS'>;
  readonly resources: readonly Resource[];
  readonly pool: Pool;
  /** Address of the style sheet. */
  readonly lookPath: string;
  readonly fetchDocument: GuardedFetch;
  readonly limit: AttemptLimit;
  readonly senderOf: SenderOf;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** A page for errors that no client can be told; others get them as JSON. */
const errorPage =
  (lookPath: string): ProviderDeps['renderError'] =>
  (ctx, out) => {
    if (ctx.accepts('json', 'html') !== 'html') {
      ctx.body = out;
      return;
    }
    const page = {
      title: 'This request for access is not valid',
      body: html`<h1>This request for access is not valid</h1>
        <p>Go back to the program that sent you here. Its makers can read the reason: <code>${out.error}</code></p>
        ${out.error_description !== undefined && html`<p>${out.error_description}</p>`}`,
    };
    ctx.set(pageHeaders(page));
    ctx.body = renderPage(page, { lookPath, session: undefined, formToken: '' });
  };

/** Ends a grant, and tells the person. */
const createRevoke =
  ({ pool, clock, logger }: Pick<AuthorizationOptions, 'pool' | 'clock' | 'logger'>) =>
  async (grantId: string, reason: RevocationReason, userId?: string): Promise<boolean> => {
    const grant = await revokeGrant(pool, grantId, reason, userId);
    if (!grant) return false;
    logger.info({ grant_id: grantId, client_id: grant.client_id, reason }, 'oauth.grant_revoked');
    const kind = reason === 'reuse' ? 'reuse_detected' : 'grant_revoked';
    const client = await findClient(pool, grant.client_id);
    await recordSecurityEvent(pool, grant.user_id, kind, clock(), {
      client_id: grant.client_id,
      ...(client && { client: client.name }),
    });
    return true;
  };

/** The authorization server: its endpoints, and its pages for people. */
export function createAuthorization(options: AuthorizationOptions): {
  readonly mount: (app: Express) => void;
  readonly pages: readonly PageRoute[];
} {
  const { config, resources, pool, lookPath, fetchDocument, limit, senderOf, clock, logger } = options;
  const issuer = config.BASE_URL;
  const revoke = createRevoke(options);
  const { router, provider } = serveAuthorization({
    issuer,
    resources,
    pool,
    logger,
    fetchDocument,
    findClient: (clientId) => findClient(pool, clientId),
    hasDescribedClients: () => hasDescribedClients(pool),
    limitRequests: (request) =>
      limit.require(
        [{ of: ['authorize', senderOf(request)], max: 60, seconds: 60 }],
        'Too many requests for access came from here. Try again in a minute.',
      ),
    revoke,
    resumeUrl: (interactionId) => `${issuer}${authorizePath}/${interactionId}`,
    isGrantAlive: async (grantId) => {
      const access = await findGrantedAccess(pool, resources, grantId);
      return access !== undefined && mayRefresh(access, clock());
    },
    renderError: errorPage(lookPath),
    signingKeys: openKeyFile(config.ACCESS_TOKEN_SIGNING_KEYS, {
      now: Date.now,
      onError: (error) => logger.error({ err: error }, 'oauth.signing_keys_unreadable'),
    }),
  });
  return {
    mount: (app) => void app.use(router),
    pages: [
      ...interactionRoutes({ provider, pool, resources }),
      ...connectorRoutes({
        pool,
        mcpAddress: `${config.MCP_URL}/mcp`,
        endGrant: (grantId, userId) => revoke(grantId, 'person', userId),
      }),
    ],
  };
}
